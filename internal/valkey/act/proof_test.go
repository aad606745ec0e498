package act

import (
	"errors"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// What cannot be undone is refused without its proof, before anybody is asked: there is
// nobody here.
func TestNothingIsDestroyedWithoutProof(t *testing.T) {
	owner := topology.Node{Server: &topology.Server{ID: "b", View: []topology.Peer{{ID: "b", Claim: topology.Claim{Slots: topology.Range(0, topology.TotalSlots-1)}}}}}
	ofA, doubt := plan.ProveForget(topology.Nodes{owner}, "a")
	if doubt != "" {
		t.Fatal(doubt)
	}
	for name, effect := range map[string]fsm.Effect{
		"forget one more":   cluster.Forget{IDs: []string{"a", "b"}, Proof: ofA},
		"forget":            cluster.Forget{IDs: []string{"a"}},
		"forget-slot-owner": cluster.ForgetSlotOwner{ID: "a"},
		"failover":          cluster.Failover{At: cluster.Member{ID: "a"}},
		"raise an epoch":    cluster.RaiseEpoch{At: cluster.Member{ID: "a"}},
		"remove a shard":    cluster.RemoveShard{UID: "a"},
	} {
		if _, err := (Cluster{Connect: to(nil)}).Act(t.Context(), &valkeyv1.ValkeyCluster{}, effect); !errors.Is(err, errUnproven) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
