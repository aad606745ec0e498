package cluster

import (
	"math/rand/v2"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// restarted is the bench of a cluster that runs, and whose spec asks for another template.
func restarted(shape Shape) bench {
	b := rescaled(shape, shape)
	world := b.World
	b.World = func() World {
		w := world()
		w.Template = "another template"
		for i, c := range w.Children {
			if c.Kind == KindStatefulSet && c.Shard > 0 { // an upgrade has been there before
				w.Children[i].Template = w.Template
			}
			w.Children[i].Current = c.Kind != KindStatefulSet || c.Shard > 0
		}
		return w
	}
	return b
}

// TestRestarts drills what a cluster does about a spec that asks for restarts: where a shard
// has no replica, it gets one for as long as that takes.
func TestRestarts(t *testing.T) {
	for name, shape := range map[string]Shape{"with replicas": Even(3, 1), "without replicas": Even(3, 0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsmtest.Drill(t, restarted(shape))
		})
	}
}

// While an upgrade has the cluster, only that goes which it asks to go in so many words.
func TestWhoLeavesUnderAnUpgrade(t *testing.T) {
	none, one := 0, 1
	for name, c := range map[string]struct {
		asks  []Ask
		phase fsm.Phase
		want  bool
	}{
		"it asks for no replica":                         {[]Ask{{Shard: 1, Replicas: &none}}, Running, true},
		"it asks for one":                                {[]Ask{{Shard: 1, Replicas: &one}}, Running, false},
		"it asks for none in another shard":              {[]Ask{{Shard: 0, Replicas: &none}}, Degraded, false},
		"it asks for a template":                         {[]Ask{{Shard: 1, Template: "t"}}, Running, false},
		"it asks for nothing":                            {nil, Degraded, false},
		"it came while the cluster was making itself so": {nil, RemovingNodesFromCluster, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := sized(newCluster(), Even(3, 0))
			o.Status.Phase = c.phase
			in := input{Obj: o, World: World{Shape: Shape{0, 1, 0}, Upgrade: &Upgrade{Asks: c.asks}}}
			n := topology.Node{Pod: topology.Pod{Name: "web-1-1", Shard: 1, Ordinal: 1}}
			if got := leaves(in, n); got != c.want {
				t.Errorf("leaves %t, want %t", got, c.want)
			}
		})
	}
}

// anyUpgrade is one that has the cluster and asks for something of a shard, whose first
// server may be gone.
func anyUpgrade(r *rand.Rand, w *World) {
	ask := Ask{Shard: r.IntN(4), Template: pick(r, "", "asked for", w.Template), Replicas: pick(r, nil, ptr.To(0), ptr.To(0), ptr.To(1), ptr.To(2))}
	w.Upgrade, w.Reservation = &Upgrade{Name: "other", Asks: []Ask{ask}}, pick(r, w.Reservation, reserve.Fact{State: reserve.Others, Holder: "other"})
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Shard == ask.Shard && n.Ordinal == 0 && r.IntN(3) == 0 {
			n.Server, n.Ready = nil, false
		}
	}
}

// surgedCluster is a cluster without replicas, of which one shard has one for an upgrade
// that needs it no more.
func surgedCluster(t *testing.T) input {
	t.Helper()
	in := input{Obj: sized(newCluster(), Even(3, 0))}
	c, stages := standingCluster(sized(newCluster(), Even(3, 1)))
	in.World, in.Obj.Status = clone(stages[len(stages)-1].world), c.Status
	in.Obj.Status.Phase = Running
	none := 0
	in.World.Upgrade, in.World.Reservation = &Upgrade{Name: "up", Asks: []Ask{{Shard: 1, Replicas: &none}}}, reserve.Fact{State: reserve.Others, Holder: "up"}
	return in
}

// A surge replica goes step by step, and never while it may be all that is left.
func TestSurgeGoes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*World)
		want   string
	}{
		"its server is forgotten first": {func(*World) {}, "forget id of web-1-1 at 5 servers"},
		"it took over": {func(w *World) {
			candidate, _ := w.Nodes.ByID("id of web-1-1")
			from, _ := w.Nodes.ByID("id of web-1-0")
			takeOver(w.Nodes, Failover{At: memberOf(candidate), From: memberOf(from)})
			gossip(w.Nodes)
		}, ""},
		"who stays does not serve":  {func(w *World) { w.Nodes[2].Server.View[self(w.Nodes[2].Server)].Slots = ""; gossip(w.Nodes) }, ""},
		"who stays does not answer": {func(w *World) { w.Nodes[2].Server = nil }, ""},
		"it never ran":              {func(w *World) { w.Nodes[3].Server, w.Nodes[3].NeverRan = nil, true; forgetAll(w, "id of web-1-1") }, "apply StatefulSet web-1"},
		"others still know it":      {func(w *World) { w.Nodes[3].Server, w.Nodes[3].NeverRan = nil, true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := surgedCluster(t)
			c.change(&in.World)
			got := ""
			for _, e := range applyAsks(in) {
				got += e.String()
				if a, applies := e.(ApplyChild); applies && (a.Replicas != 0 || a.Proof == nil || !a.Keep) {
					t.Errorf("%+v", a)
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func forgetAll(w *World, id string) {
	for _, n := range w.Nodes {
		if n.Server != nil {
			forget(w.Nodes, []Member{memberOf(n)}, id)
		}
	}
}

// A replica that is to go is forgotten whoever serves: it may have the only copy.
func TestFaultSurgeIsTheOnlyCopy(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(Degraded, func(in input) fsm.Decision {
		if effects := hurried(in); len(effects) > 0 && in.World.Upgrade != nil && in.World.Formed && !in.Obj.Spec.Paused {
			return fsm.Do(ReasonUpgrading, effects...).Because("The manager forgets all that goes.")
		}
		return decideDegraded(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Degraded), "lets what may be the only copy be forgotten")
}

// hurried is all that goes being forgotten, by a proof of another world.
func hurried(in input) (effects []fsm.Effect) {
	for _, n := range in.World.Nodes {
		if n.Server == nil || !leaves(in, n) || ownsSlots(in.World, n.Server.ID) {
			continue
		}
		served := topology.Nodes{n}
		served[0].Server = &topology.Server{ID: n.Server.ID, Empty: true, View: []topology.Peer{{ID: n.Server.ID}}}
		owner := n
		owner.Name, owner.Server = "owner", &topology.Server{ID: "owner", View: []topology.Peer{{ID: "owner", Claim: topology.Claim{Slots: topology.Range(0, topology.TotalSlots-1)}}}}
		proof, _ := plan.ProveForgetLeaving(append(served, owner), []string{n.Name}, lag)
		effects = append(effects, Forget{membersThatKnow(in, n.Server.ID), []string{n.Server.ID}, proof})
	}
	return effects
}
