package cluster

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// A pod that Kubernetes calls ready and that has no copy of its shard keeps all others from
// being drained, whatever else is the matter.
func TestAdjustDisruptionBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*World)
		want   string
	}{
		"nothing is the matter":                 {func(*World) {}, ""},
		"a replica is behind":                   {func(w *World) { w.Nodes[1].Server.Synced = false }, "apply PodDisruptionBudget web as closed"},
		"a replica is being sent all":           {func(w *World) { w.Nodes[1].Server.Syncing = true }, "apply PodDisruptionBudget web as closed"},
		"a newborn has the place of a lost one": {func(w *World) { w.Nodes[1] = startedNode(w.Nodes[1].Pod, "valkey:8.1") }, "apply PodDisruptionBudget web as closed"},
		"it is not ready: Kubernetes knows": {func(w *World) {
			w.Nodes[1] = startedNode(w.Nodes[1].Pod, "valkey:8.1")
			w.Nodes[1].Ready = false
		}, ""},
		"one did not answer just now": {func(w *World) { w.Nodes[1].Server = nil }, ""},
		"all are back":                {func(w *World) { closeBudget(w) }, "open PodDisruptionBudget web"},
		"closed, and one is behind": {func(w *World) {
			closeBudget(w)
			w.Nodes[1].Server.Synced = false
		}, ""},
		"closed, and somebody opened it by hand": {func(w *World) {
			closeBudget(w)
			w.Nodes[1].Server.Synced = false
			editBudget(w)
		}, "apply PodDisruptionBudget web as closed"},
		"open, and somebody edited it: that is not urgent": {editBudget, ""},
		"the cluster was never formed":                     {func(w *World) { w.Formed, w.Nodes[1].Server.Synced = false, false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := clone(made()[len(made())-1].world)
			tc.change(&w)
			got := ""
			for _, e := range adjustDisruptionBudget(input{Obj: newCluster(), World: w}) {
				got += e.String()
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// Servers of 9.0 and later hand slots to each other by themselves: meanwhile none is drained. While nothing moves, because
// all is where it should be or a person must act first, nodes can be drained.
func TestNoPodIsDrainedWhileSlotsChangeHands(t *testing.T) {
	bare := func(w *World) { w.Nodes[4].Server.View[4].Slots = "" } // the slots of the last shard have no owner
	for what, tc := range map[string]struct {
		phase   fsm.Phase
		version string
		shards  int32
		change  func(*World)
		closes  bool
	}{
		"slots are about to move":           {EvacuatingSlots, "9.1.2", 2, func(*World) {}, true},
		"they move key by key":              {EvacuatingSlots, "8.1.1", 2, func(*World) {}, false},
		"they move":                         {RebalancingSlots, "9.1.2", 3, func(w *World) { w.Migration = Moving }, true},
		"all are where they should be":      {RebalancingSlots, "9.1.2", 3, func(*World) {}, false},
		"some have no owner: nothing moves": {EvacuatingSlots, "9.1.2", 2, bare, false},
		"the cluster has yet to grow":       {WaitingForNewPods, "9.1.2", 3, func(w *World) { w.Migration = Ended }, false},
	} {
		w, c := clone(made()[len(made())-1].world), newCluster()
		c.Status.Phase, w.Reservation.State, c.Spec.Masters = tc.phase, reserve.Ours, tc.shards
		for i := range w.Nodes {
			w.Nodes[i].Server.Version = tc.version
		}
		tc.change(&w)
		d, acts := reflex(input{Obj: c, World: w})
		if closes := acts && d.Reason == ReasonAdjustingBudget; closes != tc.closes {
			t.Errorf("%s: %s %v", what, d.Reason, d.Do)
		}
	}
}

// Where a policy refuses to close the budget, the newborn that the budget is about is healed all the same.
func TestARefusedBudgetDoesNotStopHealing(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	w.Nodes[1] = startedNode(w.Nodes[1].Pod, "valkey:8.1")
	c := newCluster()
	c.Status.Phase = Degraded
	for failures := range int32(4) {
		c.Status.Failures = failures
		if d, acts := reflex(input{Obj: c, World: w}); !acts || (d.Reason == ReasonAdjustingBudget) != (failures%2 == 0) {
			t.Errorf("after %d failures: %s %v", failures, d.Reason, d.Do)
		}
	}
}

func closeBudget(w *World) {
	for i, c := range w.Children {
		if c.Kind == KindDisruptionBudget {
			w.Children[i].Template = Closed
		}
	}
}

func editBudget(w *World) {
	for i, c := range w.Children {
		if c.Kind == KindDisruptionBudget {
			w.Children[i].Edited = ".spec.maxUnavailable is missing"
		}
	}
}
