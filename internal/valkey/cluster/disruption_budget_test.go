package cluster

import (
	"testing"
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
