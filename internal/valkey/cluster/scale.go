package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Scale compares the spec with the shards that exist as StatefulSets, and never with
// the primaries that were seen: one that is dead, or was not asked, is no wish.

// whenReserved lets a phase that scales decide only where it may: in a cluster that was
// formed and is reserved for it. The phase itself says that it was formed, so a mark
// that was lost is made anew: without it the spec would pass for what there is.
func whenReserved(decide func(input) fsm.Decision) func(input) fsm.Decision {
	return func(in input) fsm.Decision {
		w := in.World
		switch {
		case !w.looked():
			return waitForLook("children", "the cluster's children")
		case !w.Formed:
			return markFormedAgain(in)
		case w.Reservation.State != reserve.Ours:
			return fsm.Wait(ReasonNotLooked, reserve.Wake.Name).Because(waitForReservation)
		}
		return decide(in)
	}
}

const waitForReservation = "Waiting for the manager to read the reservation of the cluster."

func markFormedAgain(in input) fsm.Decision {
	w := in.World
	c, found := w.child(func(c Child) bool { return c.Kind == KindConfigMap })
	switch {
	case !found || c.Foreign:
		return waitForName(c)
	case c.UID == "":
		return fsm.Do(ReasonApplying, w.apply([]Child{c})...).Because("The manager creates %s again, which was lost.", c.Ref)
	}
	return fsm.Do(ReasonFormedBefore, MarkFormed{c.UID}).
		Because("The manager notes again in %s that the cluster was formed.", c.Ref)
}

// grows says that a shard, or replicas of one, are to be added. That a StatefulSet is
// lost is not a wish for another: it is made anew wherever the cluster stands.
func grows(in input) bool {
	is, wanted := in.World.Shape, Wanted(in.Obj)
	for i := range min(len(is), len(wanted)) {
		if is[i] < wanted[i] {
			return true
		}
	}
	return in.World.looked() && len(is) < len(wanted)
}

// growStatefulSets applies the StatefulSets that are to be made, anew or at all, or widened. None is
// made narrower here: of a combined edit, what adds comes first.
func growStatefulSets(in input) (effects []fsm.Effect) {
	w, wanted := in.World, Wanted(in.Obj)
	for _, c := range w.Children {
		if c.Kind != KindStatefulSet || c.Foreign || c.Remains != "" || c.Shard >= len(wanted) {
			continue
		}
		e := ApplyChild{Child: c.Ref, UID: c.UID, Shard: c.Shard, Replicas: wanted[c.Shard], Keep: c.UID != ""}
		if c.UID == "" {
			e.Image = runningImage(w, in.Obj.Spec.Image)
		}
		if w.recorded(c) {
			e.Replicas = max(e.Replicas, w.Shape[c.Shard])
		}
		// One that exists and is not in the record was made a moment ago.
		if c.UID == "" || w.recorded(c) && w.Shape[c.Shard] < e.Replicas {
			effects = append(effects, e)
		}
	}
	return effects
}

// notWanted says that shards that are being added are not wanted any more. What is on
// its way is finished first.
func notWanted(in input) bool {
	return dropsShards(in) && !grows(in) && in.World.Migration != Moving && openSlots(in.World) == 0
}

// wantedBack says that nothing is to go any more of what is being removed, or that something is
// to be added first.
func wantedBack(in input) bool {
	return in.World.looked() && !dropsShards(in) && (!narrows(in) || grows(in)) && in.World.Migration != Moving && openSlots(in.World) == 0
}

// rebalanceUnfinished says that shards that are wanted do not have their share of the slots,
// while every slot has an owner: they were added, or slots were being moved, and the
// status that said so was lost.
func rebalanceUnfinished(in input) bool {
	w := in.World
	_, silent := w.Nodes.Silent()
	left, doubt := toMove(w, len(w.Shape))
	return !silent && !dropsShards(in) && doubt == "" && (left > 0 || openSlots(w) > 0)
}

// dropsShards says that whole shards are to go.
func dropsShards(in input) bool { return len(in.World.Shape) > len(Wanted(in.Obj)) }

// narrows says that replicas of a shard that stays are to go.
func narrows(in input) bool {
	wanted := Wanted(in.Obj)
	for i, replicas := range in.World.Shape {
		if i < len(wanted) && replicas > wanted[i] {
			return true
		}
	}
	return false
}

// leaves says that a node is one of those that are to go now. As long as a change of size only
// waits, or slots are being moved away, everyone serves, and is kept well. An upgrade goes on
// with all that there is.
func leaves(in input, n topology.Node) bool {
	if !slices.Contains(shrinking[1:], in.Obj.Status.Phase) {
		return in.World.Upgrade != nil && in.World.Upgrade.asksToRemove(n)
	}
	wanted := Wanted(in.Obj)
	return (n.Shard >= len(wanted) || n.Ordinal > wanted[n.Shard]) && approved(in)
}

// shardStillServes says that a node is of a shard that is to go as a whole and still has slots: another
// edit came when others were about to go.
func shardStillServes(in input, n topology.Node) bool {
	if n.Shard < len(Wanted(in.Obj)) {
		return false
	}
	return slices.ContainsFunc(in.World.Nodes.Shard(n.Shard), func(m topology.Node) bool {
		return m.Server != nil && (serves(in.World.Nodes, m.Server.ID) || serves(in.World.Nodes, m.Server.Self().Follows))
	})
}

// slotsOnWrongShard says that a shard that is to go has slots to give away first, or that one that is to stay after all has given its
// own away.
func slotsOnWrongShard(in input) bool {
	w, wanted := in.World, len(Wanted(in.Obj))
	if !w.looked() || w.Migration == Moving {
		return false
	}
	serves := func(n topology.Node) bool { return n.Server != nil && n.Server.Self().Slots != "" }
	if slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Shard >= wanted && serves(n) }) {
		return true
	}
	count, _, contested := w.Nodes.Assigned()
	if count != topology.TotalSlots || contested {
		return false
	}
	for i := range min(wanted, len(w.Shape)) {
		shard := w.Nodes.Shard(i)
		if _, silent := shard.Silent(); !silent && len(shard) > 0 && !slices.ContainsFunc(shard, serves) {
			return true
		}
	}
	return false
}

// scale is what a cluster that stands does about another size: reserve itself, so that
// nothing else operates on it, and go.
func scale(in input) (fsm.Decision, bool) {
	event, words := scaleEvent(in)
	switch {
	case event == "" || !in.World.Formed:
		return fsm.Decision{}, false
	case in.Obj.Spec.Paused:
		return fsm.Wait(ReasonPaused, "self", "pods", "valkey", "children").Because("The cluster is paused; unset spec.paused, and %s.", words), true
	case !approved(in): // the hold before the phase stops it, and says what a person has to do
		return fsm.Fire(event, ReasonScaling).Because("The size changes: %s.", words), true
	case in.World.Reservation.State == reserve.Ours:
		return fsm.Fire(event, ReasonScaling).Because("The size changes: %s.", words), true
	case in.World.Reservation.State == reserve.Free:
		return fsm.Do(ReasonReserving, take(in)).Because("The manager reserves the cluster; then %s.", words), true
	}
	return fsm.Wait(ReasonReservedByOther, reserve.Wake.Name, "pods", "valkey", "children").
		Because("Waiting for %s, which has reserved the cluster, to release it; then %s.", in.World.Reservation.Holder, words), true
}

// scaleEvent is the first step towards the size that is wanted: grow, then shrink.
func scaleEvent(in input) (event fsm.Event, words string) {
	is, wanted := in.World.Shape, Wanted(in.Obj)
	switch {
	case !in.World.looked():
		return "", ""
	case grows(in) && len(wanted) > len(is):
		return ScaleUpDetected, fromTo(len(is), len(wanted), "shards")
	case grows(in):
		return ScaleUpDetected, "replicas are added"
	case rebalanceUnfinished(in):
		return ScaleUpDetected, "shards get the slots that they lack"
	case upgrading(in) && (in.World.Upgrade != nil || approved(in)):
		return "", ""
	case dropsShards(in):
		return ScaleDownDetected, fromTo(len(is), len(wanted), "shards")
	case narrows(in):
		return ReplicaScaleDownDetected, "replicas are removed"
	}
	return "", ""
}

// fromTo says what becomes of a number.
func fromTo(from, to int, what string) string {
	return words(from) + " " + what + " become " + words(to)
}
