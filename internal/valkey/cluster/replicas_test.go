package cluster

import (
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Gossip may be faster than we look: by then all agree on who owns which slots, and
// nobody was made a replica. Such a cluster serves, and must not be called Running.
func TestServersThatNobodyAttachedAreNotReplicas(t *testing.T) {
	w := nothing(Even(3, 1))
	for _, s := range stages() {
		if s.phase == ConfiguringReplicas && anyServes(s.world.Nodes) {
			w = clone(s.world)
			break
		}
	}
	gossipSlowly(w.Nodes)
	if doubt, agree := w.Nodes.Agree(); !agree || !anyServes(w.Nodes) {
		t.Fatalf("the servers do not agree, or do not serve: %s", doubt)
	}
	for _, phase := range making {
		c := newCluster()
		c.Status.Phase = phase
		s, err := Machine.Step(input{Obj: c, World: w, Now: time.Unix(1_700_000_000, 0)})
		if err != nil || s.Obj.Status.Phase == Running || s.Obj.Status.Phase == VerifyingClusterHealth {
			t.Errorf("from %s without replicas to %s: %v", phase, s.Obj.Status.Phase, err)
		}
	}
}

// gossipSlowly lets everyone see everyone as they are, before anybody was told to hurry.
func gossipSlowly(nodes topology.Nodes) {
	for _, n := range nodes {
		for i := 0; n.Server != nil && i < len(n.Server.View); i++ {
			if of, ours := nodes.ByID(n.Server.View[i].ID); ours {
				n.Server.View[i].Claim = of.Server.Self().Claim
				n.Server.OK = anyServes(nodes)
			}
		}
	}
}
