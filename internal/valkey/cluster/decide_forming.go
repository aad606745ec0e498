package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// decideInitializingCluster introduces newborn servers to each other. Each meets a
// few (see missingIntroductions); the rest they hear of from those. Servers that were a cluster
// before, on volumes that outlived it, find each other again, and are it still.
func decideInitializingCluster(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	doubt, met := w.Nodes.Met()
	if met {
		return fsm.Fire(ClusterMeetComplete, ReasonMet)
	}
	if waits, barred := refuseCreation(w); barred {
		return waits
	}
	if again := updateAddresses(in); len(again) > 0 {
		return fsm.Do(ReasonMeeting, again...).Because("Waiting for servers that were a cluster before to find each other.")
	}
	const words = "Waiting for every server to know every other"
	if n, holds := w.Nodes.Holding(); holds && !allMet(w.Nodes) {
		return fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
			Because("%s holds keys or slots, so it is not joined to servers that never knew it%s.", n.Name, earlierVolumes)
	}
	if missing := missingIntroductions(w.Nodes); len(missing) > 0 {
		return fsm.Do(ReasonMeeting, Meet{missing}).Because(words + ".")
	}
	return fsm.Wait(ReasonMeeting, "valkey").In(recheck).Because("%s", atLength(in, words, doubt))
}

// decideAssigningSlots gives every shard its share. What a shard owns already, it
// keeps; which of its servers gets the share is decided by nothing but where they are.
func decideAssigningSlots(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	if count, _, contested := w.Nodes.Assigned(); count == topology.TotalSlots && !contested {
		return fsm.Fire(SlotsAssigned, ReasonAssigned)
	}
	if waits, barred := refuseCreation(w); barred {
		return waits
	}
	var effects []fsm.Effect
	first := plan.FirstPrimaries(w.Nodes, len(w.Shape))
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		if _, owned := shard.Owner(); owned {
			continue
		}
		free, found := emptyNode(shard, first[i])
		share := topology.Share(i, w.Shape.Masters())
		if !found || anyClaimed(w.Nodes, share) {
			return fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
				Because("Shard %d gets no slots: none of its servers is empty, or another server owns its slots%s.", i, earlierVolumes)
		}
		effects = append(effects, AddSlots{memberOf(free), share})
	}
	const words = "Waiting for every slot to have an owner."
	if len(effects) == 0 {
		return fsm.Wait(ReasonAssigning, "valkey").In(recheck).Because(words)
	}
	return fsm.Do(ReasonAssigning, effects...).Because(words)
}

// emptyNode is a server of a shard that holds nothing: the one that is preferred, if that is one.
func emptyNode(shard topology.Nodes, preferred string) (topology.Node, bool) {
	i := slices.IndexFunc(shard, func(n topology.Node) bool { return n.Name == preferred })
	if i >= 0 {
		if n, is := shard[i : i+1].HoldingNothing(); is {
			return n, true
		}
	}
	return shard.HoldingNothing()
}

// decideConfiguringReplicas attaches replicas, and then introduces those anew that others
// take for primaries: otherwise it takes the servers half their timeout to tell
// each other, and until all agree on the shards a restart could be the last.
func decideConfiguringReplicas(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	const words = "Waiting for every replica to follow its primary, and for all servers to agree on it and serve"
	hasty := membersWithOtherTimeout(w.Nodes, nodeTimeout(in))
	doubt, well := w.formedWell()
	if well && len(hasty) == 0 {
		return fsm.Fire(ReplicasConfigured, ReasonReplicated)
	}
	if waits, barred := refuseCreation(w); barred {
		return waits
	}
	effects, waits, stuck := attach(w)
	if stuck {
		return waits
	}
	if len(effects) == 0 {
		effects = updateAddresses(in) // servers call each other connected while they only try
	}
	if len(effects) == 0 {
		effects = raiseEpochs(in)
	}
	if len(effects) == 0 {
		effects = speedUpForming(in)
	}
	if len(effects) > 0 {
		return fsm.Do(ReasonReplicating, effects...).Because(words + ".")
	}
	return fsm.Wait(ReasonReplicating, "valkey").In(recheck).Because("%s", atLength(in, words, doubt))
}

// earlierVolumes is what a person can do about volumes on which another cluster has left its data.
const earlierVolumes = "; a cluster on the volumes of an earlier one needs its spec.masters and spec.replicasPerMaster"

// atLength adds what is in the way to the words of a phase that lasts. Before that every look would find something else,
// and write it down.
func atLength(in input, words, doubt string) string {
	if doubt == "" || in.Now.Sub(in.Obj.Status.Since.Time) < raiseEpochAfter {
		return words + "."
	}
	return words + ": " + doubt + "."
}

// attach lists the replicas that do not follow the owner of their shard's slots.
func attach(w World) (effects []fsm.Effect, waits fsm.Decision, stuck bool) {
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		if !owned {
			return nil, fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
				Because("No server of shard %d owns its slots; bring back the pod of the one that did.", i), true
		}
		for _, n := range shard {
			switch {
			case n.Name == owner.Name, n.Server.Self().Follows == owner.Server.ID:
			case n.Server.Holds():
				return nil, fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
					Because("%s holds keys or slots, or follows another server, so it is not made a replica; a person must decide what becomes of its data.", n.Name), true
			case n.Server.Knows(owner.Server.ID):
				effects = append(effects, Replicate{memberOf(n), memberOf(owner)})
			}
		}
	}
	return effects, fsm.Decision{}, false
}

// refuseCreation waits, and says why no creation command may be given at all: a cluster was formed
// here, the reservation is not known to be ours, or servers of another cluster, or
// of an earlier life of this one, are known to ours.
func refuseCreation(w World) (fsm.Decision, bool) {
	switch id, by, found := w.Nodes.UnknownServer(); {
	case w.Formed:
		return fsm.Wait(ReasonFormedBefore, "children").In(recheck).Because("The cluster was formed before, so the manager gives no command that forms one."), true
	case w.Reservation.State != reserve.Ours:
		return fsm.Wait(ReasonNotLooked, reserve.Wake.Name).Because(waitForReservation), true
	case found && holdsKeys(w.Nodes):
		return fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
			Because("%s knows server %s, which is no pod of this cluster, and there are keys%s.", by.Name, id, earlierVolumes), true
	case found:
		return fsm.Wait(ReasonUnknownServer, "valkey").In(recheck).
			Because("%s knows server %s, which is no pod of this cluster; delete the cluster and create it anew.", by.Name, id), true
	}
	return fsm.Decision{}, false
}

// holdsKeys says that there are keys: what is here is more than a creation that was disturbed.
func holdsKeys(nodes topology.Nodes) bool {
	return slices.ContainsFunc(nodes, func(n topology.Node) bool { return n.Server != nil && !n.Server.Empty })
}

// anyClaimed says that somebody is seen by anybody as the owner of one of the slots.
func anyClaimed(nodes topology.Nodes, slots topology.Slots) bool {
	for _, n := range nodes {
		for _, p := range n.Server.View {
			if p.Slots.Overlaps(slots) {
				return true
			}
		}
	}
	return false
}
