package valkey

import (
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestAKilledPrimaryIsMissedAtOnce kills a server whose kubelet notices nothing. Servers of a cluster that runs are
// asked so seldom that a replica would take over too late.
func TestAKilledPrimaryIsMissedAtOnce(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	var primary, replica topology.Node
	nodes := s.kubelet.nodes(t)
	for _, n := range nodes {
		if of, follows := nodes.ByID(n.Server.Self().Follows); follows {
			primary, replica = of, n
		}
	}
	s.kubelet.servers.Kill(primary.Addr)
	began := time.Now()
	harness.Eventually(t, within, poll, func() error {
		server, err := s.kubelet.servers.Ask(t.Context(), replica.Addr)
		if err == nil && server.Self().Slots == "" {
			err = fmt.Errorf("%s has no slots", replica.Addr)
		}
		return err
	})
	if took := time.Since(began); took > observe.EveryAtRest/2 {
		t.Errorf("took over after %s", took)
	}
}
