package cluster

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// recheck is how soon what is awaited is looked at even if nothing wakes us.
const recheck = 5 * time.Second

// decidePending takes the reservation and applies the children. A cluster that was
// formed before is not made: it is looked at where it stands.
func decidePending(in input) fsm.Decision {
	w := in.World
	switch {
	case w.Formed:
		return fsm.Fire(ClusterFound, ReasonFormedBefore)
	case !w.looked() || w.Reservation.State == "":
		return waitForLook("children", "the cluster's children and its reservation")
	}
	if c, taken := w.foreign(); taken {
		return waitForName(c)
	}
	if w.Access.Forbidden {
		return waitForSecrets(in.Obj)
	}
	if w.Access.Doubt != "" {
		return fsm.Wait(ReasonCredentialsMissing, "children").In(recheck).Because("%s", accessDoubt(w))
	}
	var effects []fsm.Effect
	if w.Reservation.State != reserve.Ours {
		effects = append(effects, take(in))
	}
	if w.Access.Missing {
		effects = append(effects, MakePasswords{})
	}
	const words = "Waiting for the cluster's children to be applied, and for the StatefulSet controller to see them."
	if effects = append(effects, w.apply(w.unapplied())...); len(effects) > 0 {
		return fsm.Do(ReasonApplying, effects...).Because(words)
	}
	if waits, blocked := w.waitForOldPods(len(w.Shape)); blocked {
		return waits
	}
	// The StatefulSet controller needs a moment, which is not worth a write of its
	// own: so it is spent here, and Creating is passed by.
	if _, unsettled := w.unsettled(); unsettled {
		return fsm.Wait(ReasonApplying, "children").In(recheck).Because(words)
	}
	return fsm.Fire(ResourcesApplied, ReasonApplied)
}

// apply makes children what the spec has them be. The shards keep their width, and one that was edited or lost its
// label its template: the pods are not to restart for a label.
func (w World) apply(children []Child) (effects []fsm.Effect) {
	for _, c := range children {
		e := ApplyChild{Child: c.Ref, UID: c.UID, Keep: c.Kind == KindConfigMap && w.KeepsSettings(), Edited: c.Edited}
		if c.Kind == KindStatefulSet {
			e.Shard, e.Replicas, e.Keep = c.Shard, w.Shape[c.Shard], c.Unlabelled || w.Formed && c.Edited != ""
		}
		effects = append(effects, e)
	}
	return effects
}

func waitForName(c Child) fsm.Decision {
	return fsm.Wait(ReasonNameTaken, "children").In(recheck).
		Because("%s exists and is controlled by another object; delete it, or give the cluster another name.", c.Ref)
}

// waitForLook waits while something was not read, which is no evidence of anything.
func waitForLook(wake, what string) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, wake).In(recheck).Because("Waiting for the manager to read %s.", what)
}

// waitForOldPods waits for pods of an earlier StatefulSet of one of the first shards to be gone. One that is made before that
// cannot have their names, and its controller tries again after a time that doubles with everything that happens to its
// other pods: minutes soon.
func (w World) waitForOldPods(shards int) (fsm.Decision, bool) {
	c, found := w.child(func(c Child) bool { return c.Remains != "" && c.Shard < shards })
	return fsm.Wait(ReasonApplying, "children", "pods").In(recheck).
		Because("Waiting for pod %s of a deleted StatefulSet to be gone; then the manager creates %s.", c.Remains, c.Ref), found
}

func decideCreating(in input) fsm.Decision {
	switch c, unsettled := in.World.unsettled(); {
	case !in.World.looked():
		return waitForLook("children", "the cluster's children")
	case unsettled:
		return fsm.Wait(ReasonNotObserved, "children").Because("Waiting for the StatefulSet controller to see %s.", c.Ref)
	}
	return fsm.Fire(StatefulSetReady, ReasonObserved)
}

func decideWaitingForPods(in input) fsm.Decision {
	waits, missing := waitForPods(in.World)
	if n, stuck := stuckPod(in.World); missing && stuck {
		return fsm.Do(waits.Reason, DeletePod{n.Name, n.UID, n.Version}).Because("%s", waits.Message)
	}
	if missing {
		return waits
	}
	return fsm.Fire(PodsRunning, ReasonPodsRunning)
}

// waitForPods waits while a server does not answer. How many do is not said: it
// would be another write for each that does.
func waitForPods(w World) (fsm.Decision, bool) {
	_, missing := w.missing()
	if i := slices.IndexFunc(w.Nodes, hasTrouble); missing && i >= 0 {
		n := w.Nodes[i]
		return fsm.Wait(ReasonPodsFailing, "pods", "valkey").In(recheck).Because("%s", n.Trouble.Words), true
	}
	words := "Waiting for every server to answer."
	if i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Stranger != "" }); i >= 0 {
		words = fmt.Sprintf("Waiting for every server to answer: %s %s.", w.Nodes[i].Name, w.Nodes[i].Silence())
	}
	return fsm.Wait(ReasonPodsStarting, "pods", "valkey").In(recheck).Because("%s", words), missing
}

// stuckPod is a pod that cannot start by a template that has been put right since: it
// would never be replaced, because only deleting it does that. One at a time, and
// only where no server has ever run.
func stuckPod(w World) (topology.Node, bool) {
	i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.UID != "" && n.Outdated && n.NeverRan && n.Server == nil })
	if _, barred := refuseCreation(w); i < 0 || barred {
		return topology.Node{}, false
	}
	return w.Nodes[i], true
}

// reflex is what comes before all else in every phase.
func reflex(in input) (fsm.Decision, bool) {
	if d, lost := keepReservation(in); lost {
		return d, true
	}
	if d, gives := giveBackPlaces(in); gives {
		return d, true
	}
	d, heals := heal(in)
	// Where the budget is refused, it and healing take turns: what heals ends the need to close the budget.
	turn := !heals || in.Obj.Status.Failures%2 == 0
	if effects := adjustDisruptionBudget(in); turn && len(effects) > 0 && slices.Contains(standing, in.Obj.Status.Phase) {
		return fsm.Do(ReasonAdjustingBudget, effects...).
			Because("The manager adjusts the PodDisruptionBudget: no pod may be drained while a ready one has no copy of its shard, or while slots change hands."), true
	}
	return d, heals
}

// kind is what the cluster is called where it reserves itself.
var kind = schema.GroupKind{Group: valkeyv1.GroupVersion.Group, Kind: "ValkeyCluster"}

// ownRef names the cluster for good: it reserves itself.
func ownRef(in input) reserve.Ref { return reserve.RefOf(kind, in.Obj) }

func take(in input) fsm.Effect { return reserve.Take{Target: ownRef(in)} }

// keepReservation: a cluster that is being made or scaled and finds its
// reservation free takes it back before it does anything else. Pending does so
// itself, together with the rest.
func keepReservation(in input) (fsm.Decision, bool) {
	lost := in.World.Reservation.State == reserve.Free && !in.Obj.Spec.Paused
	phase := in.Obj.Status.Phase
	needed := slices.Contains(scaling, phase) || slices.Contains(making, phase) && phase != Pending && !in.World.Formed
	if !lost || !needed {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonReserving, take(in)).Because("The manager takes the reservation of the cluster back."), true
}

func hasTrouble(n topology.Node) bool { return n.Server == nil && n.Trouble.Is() }

func paused(in input) (string, bool) {
	return "The cluster is paused; unset spec.paused to continue.", in.Obj.Spec.Paused
}

// reservedByOther holds what makes or scales a cluster. One that was formed is not made,
// and must stay where others that hold it, such as an upgrade, find it.
func reservedByOther(in input) (string, bool) {
	r := in.World.Reservation
	made := in.World.Formed && slices.Contains(making, in.Obj.Status.Phase)
	message, held := r.Held("the cluster")
	return message, held && !made
}

// childrenChanged says that children are to be applied anew before servers can form a
// cluster: the image was put right, or somebody deleted a Service.
func childrenChanged(in input) bool {
	return !in.World.Formed && in.World.looked() && len(in.World.unapplied()) > 0
}

func specChanged(in input) bool {
	return in.Obj.Generation != in.Obj.Status.ObservedGeneration && !in.World.dataLost()
}
