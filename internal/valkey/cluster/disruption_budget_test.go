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

// Servers of 9.0 and later hand slots to each other by themselves: meanwhile none is drained.
func TestNoPodIsDrainedWhileSlotsChangeHands(t *testing.T) {
	for phase, moves := range map[fsm.Phase]bool{RebalancingSlots: true, EvacuatingSlots: true, WaitingForNewPods: false, Running: false} {
		for _, version := range []string{"8.1.1", "9.1.2"} {
			w, c := clone(made()[len(made())-1].world), newCluster()
			c.Status.Phase, w.Reservation.State = phase, reserve.Ours
			for i := range w.Nodes {
				w.Nodes[i].Server.Version = version
			}
			d, acts := reflex(input{Obj: c, World: w})
			if closes := acts && d.Reason == ReasonAdjustingBudget; closes != (moves && version == "9.1.2") {
				t.Errorf("%s in %s: %s %v", version, phase, d.Reason, d.Do)
			}
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
