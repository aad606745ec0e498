package valkey

import (
	"errors"
	"fmt"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestAReplicaSeenAsPrimaryIsBelievedAgain lets a primary of 9 take its replica for a primary, which would last for ever.
func TestAReplicaSeenAsPrimaryIsBelievedAgain(t *testing.T) {
	s := newStage(t)
	s.kubelet.runs("9.1.2")
	c := s.create("web")
	s.reaches(c, cluster.Running)
	nodes := s.kubelet.nodes(t)
	if doubt, agree := nodes.Agree(); !agree {
		t.Fatal(doubt)
	}
	for _, n := range nodes {
		if primary, follows := nodes.ByID(n.Server.Self().Follows); follows {
			s.kubelet.servers.MistakeForPrimary(primary.Addr, n.Server.ID)
			break
		}
	}
	if _, agree := s.kubelet.nodes(t).Agree(); agree {
		t.Fatal("no replica is seen as a primary")
	}
	harness.Eventually(t, within, poll, func() error {
		if doubt, agree := s.kubelet.nodes(t).Agree(); !agree {
			return errors.New(doubt)
		}
		return nil
	})
	s.reaches(c, cluster.Running)
}

// runs makes the kubelet run servers of a version from now on.
func (k *kubelet) runs(version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = version
}

// nodes is what all servers say.
func (k *kubelet) nodes(t *testing.T) (list topology.Nodes) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range len(k.at) {
		addr := fmt.Sprintf("10.0.0.%d:6379", i+1)
		server, err := k.servers.Ask(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, topology.Node{Pod: topology.Pod{Name: addr, Addr: addr}, Server: server})
	}
	return list
}
