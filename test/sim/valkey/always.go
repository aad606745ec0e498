package valkey

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// always is what holds after every write: all slots are served, what clients wrote is
// there, and no pod was deleted whose server others need.
func (s *story) always(change sim.Change) error {
	if !s.stands {
		return nil
	}
	if count, _, _ := s.kubelet.answering().Assigned(); count != topology.TotalSlots {
		return fmt.Errorf("%d slots are served", count)
	}
	if lost := s.servers.Lost(); len(lost) > 0 {
		return fmt.Errorf("writes to slots %v are lost", lost)
	}
	if change.GroupVersionKind == podKind && leaves(change) {
		return s.spared(change)
	}
	return nil
}

// leaves says that an object was deleted by this very change.
func leaves(change sim.Change) bool {
	return change.Was != nil && change.Was.GetDeletionTimestamp() == nil && (change.Is == nil || change.Is.GetDeletionTimestamp() != nil)
}

// spared says that a pod that was deleted can be spared: its server owns nothing, and the
// primary of its shard has what it has. One that holds nothing and that nobody follows was
// not yet told whom to follow: on the way back it may be replaced before.
func (s *story) spared(change sim.Change) error {
	ip, _, _ := unstructured.NestedString(change.Was.Object, "status", "podIP")
	if s.kubelet.running[ip+":6379"] == "" {
		return nil
	}
	server, err := s.servers.Ask(context.Background(), ip+":6379")
	if err != nil {
		return err
	}
	if server.Self().Slots != "" || server.Self().Follows == "" && server.Holds() {
		return fmt.Errorf("pod %s was deleted, which is a primary", change.Name)
	}
	for _, n := range s.kubelet.answering() {
		if n.Server.Self().Follows == server.ID {
			return fmt.Errorf("pod %s was deleted, which %s follows", change.Name, n.Name)
		}
	}
	return nil
}

// failoverLasts is how long a server tries to take over that was asked to.
const failoverLasts = 5 * time.Second

// failsOver is told of a failover that is about to begin: of two at a time one might
// vote for the other, or for none.
func (s *story) failsOver(at wire.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, since := range s.failing {
		server, err := s.servers.Ask(context.Background(), other.Addr)
		under := err == nil && server.ID == other.ID && server.Self().Follows != "" && s.world.Now().Sub(since) < failoverLasts
		if under && other != at {
			s.world.Diverge("%s was asked to take over while %s is about to", at.Addr, other.Addr)
		}
		if !under {
			delete(s.failing, other)
		}
	}
	s.failing[at] = s.world.Now()
	s.kubelet.write()
}
