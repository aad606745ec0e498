package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// replace puts a server that holds nothing, and knows nobody, in the place of another.
func replace(n *topology.Node) {
	*n = startedNode(n.Pod, "valkey:8.1")
	n.Server.ID, n.Server.View[0].ID = "id of another", "id of another"
}

// A pod of a shard that is yet to be given slots is replaced: whoever is in its place is introduced, and follows.
func TestWhoIsReplacedBeforeItHasSlotsHasAPart(t *testing.T) {
	for name, i := range map[string]int{"a replica": 9, "a primary": 8} {
		t.Run(name, func(t *testing.T) {
			in := evacuated(RebalancingSlots)
			in.Obj = sized(in.Obj, Even(5, 1))
			nodes := in.World.Nodes
			gone := nodes[i].Server.ID
			replace(&nodes[i])
			for j := range nodes {
				if k := nodes[j].Server.View; j != i {
					for l := range k {
						if k[l].ID == gone {
							k[l].State = topology.Failed
						}
					}
				}
			}
			nodes[9].Server.Synced = false
			step := func() fsm.Decision {
				t.Helper()
				s, err := Machine.Step(in)
				if err != nil || s.Obj.Status.Phase != RebalancingSlots {
					t.Fatalf("%s: %+v, %v", s.Obj.Status.Phase, s.Decision, err)
				}
				return s.Decision
			}
			var done []string
			for range 6 {
				for _, e := range step().Do {
					done = append(done, strings.Fields(e.String())[0])
					command(nodes, e)
				}
				endHandshakes(nodes)
				gossip(nodes)
			}
			if follows := nodes[9].Server.Self().Follows; follows != nodes[8].Server.ID {
				t.Errorf("it follows %q; done: %v", follows, done)
			}
		})
	}
}

// A plan that was edited on its way waits to be approved, for days: nobody goes until then, and who is lost is brought back.
func TestNobodyGoesByAPlanThatIsNotApproved(t *testing.T) {
	for _, phase := range shrinking[1:] {
		in := fiveShards(phase)
		in.Obj = sized(in.Obj, Even(5, 0))
		in.Obj.Spec.ApprovePlan = true
		replace(&in.World.Nodes[1])
		if d, heals := heal(in); !heals || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), "meet") {
			t.Errorf("%s: %v", phase, d.Do)
		}
		if gone := leaving(in); len(gone) > 0 {
			t.Errorf("%s: %v go", phase, gone)
		}
	}
}

// A shard that gave its slots away is to stay after all, and to be narrower.
func TestAShardThatStaysNarrowerIsDealtSlots(t *testing.T) {
	for _, phase := range shrinking[1:] {
		in := evacuated(phase)
		in.Obj = sized(in.Obj, Even(5, 0))
		s, err := Machine.Step(in)
		if err != nil || s.Obj.Status.Phase != EvacuatingSlots {
			t.Errorf("%s: %s, %v", phase, s.Obj.Status.Phase, err)
		}
	}
}

// Who does not answer may be the owner: nothing is lost, and nothing is said to be.
func TestSilenceIsNotLoss(t *testing.T) {
	for _, phase := range shrinking[1:] {
		in := fiveShards(phase)
		in.Obj = sized(in.Obj, Even(5, 0))
		in.World.Nodes[2].Server = nil
		s, err := Machine.Step(in)
		if err != nil || s.Decision.Reason != ReasonPodsStarting || !strings.Contains(s.Decision.Message, "web-1-0") {
			t.Errorf("%s: %s: %s, %v", phase, s.Decision.Reason, s.Decision.Message, err)
		}
	}
}

// New shards know each other, and nobody else, when one of them is not wanted any more: it is ours, nevertheless.
func TestWhoIsToGoIsKnown(t *testing.T) {
	in := evacuated(EvacuatingSlots)
	in.Obj = sized(in.Obj, Even(4, 1))
	nodes := in.World.Nodes
	for i := 6; i < 10; i++ {
		replace(&nodes[i])
		nodes[i].Server.ID = "id of new " + nodes[i].Name
		nodes[i].Server.View = []topology.Peer{{ID: nodes[i].Server.ID, Addr: nodes[i].Addr}}
	}
	for _, n := range nodes[6:] {
		for _, other := range nodes[6:] {
			if other.Name != n.Name {
				n.Server.View = append(n.Server.View, topology.Peer{ID: other.Server.ID, Addr: other.Addr})
			}
		}
	}
	if d := decideEvacuatingSlots(in); len(d.Do) != 1 || !strings.HasPrefix(d.Do[0].String(), "meet") {
		t.Errorf("%s: %s: %v", d.Reason, d.Message, d.Do)
	}
}

// However many go, each that stays is looked at once.
func TestAllThatGoAreForgottenAtOnce(t *testing.T) {
	in := evacuated(RemovingNodesFromCluster)
	in.Obj.Status.Since = *ago(time.Minute)
	effects, doubt := forgetLeavingNodes(in)
	if len(effects) != 1 || doubt != "" {
		t.Fatalf("%v: %s", effects, doubt)
	}
	e := effects[0].(Forget)
	if len(e.At) != 6 || len(e.IDs) != 4 || e.String() != "forget 4 at 6 servers" {
		t.Errorf("%s: %+v", e, e)
	}
	for _, id := range e.IDs {
		if !e.Proof.Of(plan.Server(id)) {
			t.Errorf("%s may not be forgotten", id)
		}
	}
}
