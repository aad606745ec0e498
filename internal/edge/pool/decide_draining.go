package pool

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideDraining waits for pods and Nodes, which a worker closes and removes, then takes what is left off devices, and ends with the
// object. It is bounded by what users do: a pod on a device that is gone for good stays until a person closes it.
func decideDraining(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked:
		return notLooked()
	case w.Pods.Count > 0:
		return fsm.Wait(ReasonPodsLeft, "nodes", "sweep").In(recheck).
			Because("Waiting until %d pods on devices of the pool have gone: %s.", w.Pods.Count, some(w.Pods.Some, w.Pods.Count))
	case w.Nodes > 0:
		return fsm.Wait(ReasonNodesLeft, "nodes", "sweep").In(recheck).Because("Waiting until %d Nodes of the pool, which have no pods, have gone.", w.Nodes)
	case !w.surveyed():
		return notSurveyed(w)
	case held(in):
		return fsm.Wait(ReasonOrphansHeld, "self", "sweep").Because("%s", sayHeld(in))
	}
	if d, is := removeOrphans(in); is {
		return d
	}
	switch {
	case w.Entries > 0:
		return fsm.Wait(ReasonOrphans, "sweep").In(sweep).Because("Waiting until it is certain that no pod has the %d applications of this cluster that are left on devices of the pool.", w.Entries)
	case len(w.Marked) > 0:
		return fsm.Do(ReasonOrphans, RemoveMark{w.Marked[0]}).Because("The mark of this cluster is taken off device %s.", w.Marked[0])
	}
	seen := fmt.Sprintf("a complete list of %d devices has nothing of this cluster, and a live list of pods and Nodes none of the pool", w.Survey.Devices)
	return fsm.Do(ReasonDrained, Finish{in.Obj.UID, in.Obj.ResourceVersion, seen}).Because("Nothing of the pool is left.")
}

// notSurveyed waits for what must be read before the pool can go.
func notSurveyed(w World) fsm.Decision {
	switch w.Access.State {
	case Denied:
		return fsm.Wait(ReasonDenied, "sweep", "credentials").Because("%s", denied(w))
	case Unreachable:
		return fsm.Wait(ReasonUnreachable, "sweep").Because("%s", unreachable(w))
	}
	return fsm.Wait(ReasonSurveying, "sweep").In(recheck).Because("Reading all devices of the pool and all pods of the cluster, to see whether something is left.")
}
