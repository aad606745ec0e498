package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// decideScalingUpStatefulSet makes the StatefulSets of new shards and widens others.
func decideScalingUpStatefulSet(in input) fsm.Decision {
	w := in.World
	if !w.looked() {
		return waitForLook("children", "the cluster's children")
	}
	if c, taken := w.foreign(); taken {
		return waitForName(c)
	}
	if d, waits := waitForOldClaims(in); waits {
		return d
	}
	const words = "Waiting for the StatefulSets of new pods to be applied, and for the StatefulSet controller to see them."
	if effects := growStatefulSets(in); len(effects) > 0 {
		return fsm.Do(ReasonApplying, effects...).Because(words)
	}
	if waits, blocked := w.waitForOldPods(len(Wanted(in.Obj))); blocked {
		return waits
	}
	if _, unsettled := w.unsettled(); unsettled || grows(in) {
		return fsm.Wait(ReasonApplying, "children").In(recheck).Because(words)
	}
	return fsm.Fire(StatefulSetScaled, ReasonApplied)
}

func decideWaitingForNewPods(in input) fsm.Decision {
	if waits, missing := waitForPods(in.World); missing {
		return waits
	}
	return fsm.Fire(PodsRunning, ReasonPodsRunning)
}

// decideAddingNodesToCluster introduces servers that hold nothing to the cluster.
func decideAddingNodesToCluster(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	if d, unknown := meetAll(w, w.Nodes); unknown {
		return d
	}
	return fsm.Fire(NodesAdded, ReasonMet)
}

// meetAll sees to it that all servers know each other, as long as some do not.
func meetAll(w World, all topology.Nodes) (d fsm.Decision, unknown bool) {
	const words = "Waiting for new servers to be known to all others."
	effects, waits, stuck := introduceNewNodes(w, all)
	switch {
	case stuck:
		return waits, true
	case len(effects) > 0:
		return fsm.Do(ReasonMeeting, effects...).Because(words), true
	}
	return fsm.Wait(ReasonMeeting, "valkey").In(recheck).Because(words), !allMet(w.Nodes)
}

// decideRebalancingSlots gives new shards their share. Their replicas are attached
// first: what is moved to a shard is not to depend on one server.
func decideRebalancingSlots(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	if d, unknown := meetAll(w, w.Nodes); unknown { // who had no slots yet may have been replaced
		return d
	}
	if d, early := prepareNewShards(w, len(w.Shape)); early {
		return d
	}
	if d, moving := move(in, len(w.Shape)); moving {
		return d
	}
	return fsm.Fire(SlotsRebalanced, ReasonBalanced)
}

// prepareNewShards sees to it that those of the first shards that own nothing yet have their
// replicas, and serve, before they are given anything.
func prepareNewShards(w World, shards int) (fsm.Decision, bool) {
	if effects := attachEmpty(w, shards); len(effects) > 0 {
		return fsm.Do(ReasonReplicating, effects...).Because("Waiting for the replicas of new shards to follow their primaries."), true
	}
	if n, behind := NodesOfSlotShards(w.Nodes, shards).Unsynced(); behind {
		return fsm.Wait(ReasonReplicating, "valkey").In(recheck).Because("Waiting for %s to be in sync before slots are moved.", n.Name), true
	}
	staying := slices.DeleteFunc(slices.Clone(w.Nodes), func(n topology.Node) bool { return n.Shard >= shards })
	if n, idle := notServing(staying); idle {
		return fsm.Wait(ReasonReplicating, "valkey").In(recheck).Because("Waiting for %s to serve clients before slots are moved.", n.Name), true
	}
	return fsm.Decision{}, false
}

// NodesOfSlotShards are the nodes of shards that have slots, or are to have some. What becomes of others does not matter.
func NodesOfSlotShards(nodes topology.Nodes, shards int) topology.Nodes {
	return slices.DeleteFunc(slices.Clone(nodes), func(n topology.Node) bool {
		_, owned := nodes.Shard(n.Shard).Owner()
		return n.Shard >= shards && !owned
	})
}

// decideConfiguringNewReplicas attaches the replicas that were added to shards.
func decideConfiguringNewReplicas(in input) fsm.Decision {
	w := in.World
	if waits, missing := waitForPods(w); missing {
		return waits
	}
	const words = "Waiting for every replica to follow its primary, and for all servers to agree on it and serve"
	doubt, well := w.formedWell()
	if well {
		return fsm.Fire(ReplicasConfigured, ReasonReplicated)
	}
	effects, waits, stuck := attach(w)
	if stuck {
		return waits
	}
	if len(effects) > 0 {
		return fsm.Do(ReasonReplicating, effects...).Because(words + ".")
	}
	return fsm.Wait(ReasonReplicating, "valkey").In(recheck).Because("%s", atLength(in, words, doubt))
}

// notServing is a server that would refuse clients what it is given: one that has just
// joined does not trust what it knows for a while.
func notServing(nodes topology.Nodes) (topology.Node, bool) {
	i := slices.IndexFunc(nodes, func(n topology.Node) bool { return !n.Server.OK })
	if i < 0 {
		return topology.Node{}, false
	}
	return nodes[i], true
}

// attachEmpty makes the servers of each of the first shards that owns nothing follow one of them.
func attachEmpty(w World, shards int) (effects []fsm.Effect) {
	for i, name := range newPrimaries(w, shards) {
		shard := w.Nodes.Shard(i)
		at := slices.IndexFunc(shard, func(n topology.Node) bool { return n.Name == name })
		if _, owned := shard.Owner(); owned || at < 0 {
			continue
		}
		first := shard[at]
		for _, n := range shard {
			if n.Name != first.Name && mayFollow(w, n) && n.Server.Knows(first.Server.ID) {
				effects = append(effects, Replicate{memberOf(n), memberOf(first)})
			}
		}
	}
	return effects
}

// mayFollow says that a server may follow another: it holds nothing, and if it follows one already, that one is gone.
func mayFollow(w World, n topology.Node) bool {
	self := n.Server.Self()
	_, answers := w.Nodes.ByID(self.Follows)
	return n.Server.Empty && self.Slots == "" && (self.Follows == "" || !answers && !seenAlive(w.Nodes, self.Follows))
}

// newPrimaries names the primary of each of the first shards: the one that it has, or one for it where machines have few.
func newPrimaries(w World, shards int) []string {
	candidates := make([]topology.Nodes, min(shards, len(w.Shape)))
	for i := range candidates {
		candidates[i] = mayBePrimary(w.Nodes.Shard(i))
	}
	return plan.NewPrimaries(candidates)
}

// mayBePrimary are the servers of which one is the primary of a shard: the one that owns its slots or has replicas, or else
// those that hold nothing.
func mayBePrimary(shard topology.Nodes) (nodes topology.Nodes) {
	if owner, owned := shard.Owner(); owned {
		return topology.Nodes{owner}
	}
	for _, n := range shard {
		if n.Server == nil {
			continue
		}
		if id := n.Server.Self().Follows; id != "" {
			if first, found := shard.ByID(id); found {
				return topology.Nodes{first}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(shard), func(n topology.Node) bool { return n.Server == nil || n.Server.Holds() })
}
