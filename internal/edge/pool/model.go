package pool

import (
	"slices"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Perform is what an effect should do to the World. A finalizer is the object's: the model has it from the start.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case RemoveEntries:
		w.Orphans = slices.DeleteFunc(slices.Clone(w.Orphans), func(o Orphan) bool {
			removed := o.Device == e.Device && slices.Contains(e.Names, o.Name)
			if removed {
				w.Entries--
			}
			return removed
		})
	case NudgeDevice:
		w.Unasked = slices.DeleteFunc(slices.Clone(w.Unasked), func(name string) bool { return name == e.Device })
	case RemoveMark:
		w.Marked = slices.DeleteFunc(slices.Clone(w.Marked), func(name string) bool { return name == e.Device })
	case Finish:
		w.Gone = true
	}
	return w
}

// Settle is what Flight Control, the worker and users do, one step at a time.
func Settle(p *edgev1.EdgePool, w World) World {
	switch {
	case w.Access.State == "":
		w.Access.State = Answered
	case w.Access.State != Answered:
	case !w.Survey.Complete:
		w.Survey = Survey{Complete: true, Devices: 2, Connected: 2}
	case !w.Pods.Listed:
		w.Pods.Listed = true
	case p == nil:
	case p.DeletionTimestamp != nil:
		leave(&w)
	case p.Status.Phase == Serving:
		w.Nodes = w.Survey.Devices
	}
	return w
}

// leave is what a worker and the cluster do with a pool that is deleted: pods are evicted, and then Nodes go.
func leave(w *World) {
	if w.Pods.Count > 0 {
		w.Pods = Pods{Listed: true}
		return
	}
	w.Nodes = 0
}
