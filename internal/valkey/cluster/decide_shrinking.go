package cluster

import (
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// decideEvacuatingSlots moves the slots of shards that are to go to those that stay. Pods that
// are to go and never came to serve are not waited for: they may never start, which may be why
// they are to go.
func decideEvacuatingSlots(in input) fsm.Decision {
	seen := len(in.World.Nodes) == in.World.Shape.Nodes()
	in.World.Nodes = slices.DeleteFunc(slices.Clone(in.World.Nodes), func(n topology.Node) bool {
		return n.Server == nil && n.Shard >= len(Wanted(in.Obj)) && !shardStillServes(in, n)
	})
	w := in.World
	if _, silent := w.Nodes.Silent(); silent || !seen {
		waits, _ := waitForPods(w)
		return waits
	}
	if d, early := meetStayingNodes(in); early {
		return d
	}
	if d, early := prepareNewShards(w, len(Wanted(in.Obj))); early {
		return d
	}
	if d, moving := move(in, len(Wanted(in.Obj))); moving {
		return d
	}
	return fsm.Fire(SlotsMigrated, ReasonBalanced)
}

// meetStayingNodes sees to it that those that stay are one cluster: shards may have been added, and taken back in part.
func meetStayingNodes(in input) (fsm.Decision, bool) {
	w, wanted := in.World, Wanted(in.Obj)
	w.Nodes = slices.DeleteFunc(slices.Clone(w.Nodes), func(n topology.Node) bool { return n.Shard >= len(wanted) || n.Ordinal > wanted[n.Shard] })
	return meetAll(w, in.World.Nodes)
}

// linger is how long a server that serves nothing any more goes on telling clients who
// does, before it goes.
const linger = 3 * time.Second

// lastMoved is when slots last left a server that goes, as far as is known: before this phase,
// or by a hand-over in it.
func lastMoved(in input) time.Time {
	since := in.Obj.Status.Since.Time
	if last := in.Obj.Status.LastFailover; last != nil && last.After(since) {
		return last.Time
	}
	return since
}

// decideRemovingNodesFromCluster lets those that stay forget the servers that are to go. One
// that still is a primary of a shard that stays hands it over first.
func decideRemovingNodesFromCluster(in input) fsm.Decision {
	w := in.World
	if !w.looked() || len(w.Nodes) != w.Shape.Nodes() {
		return waitForLook("valkey", "the cluster's children and its pods")
	}
	if d, owns := handOver(in); owns {
		return d
	}
	if doubt := plan.WhoIsBehind(w.Nodes, leaving(in), lag); doubt != "" {
		return fsm.Wait(ReasonNoCopy, "valkey").In(recheck).
			Because("Waiting for the servers that stay to have all of their shard, before others are removed: %s.", doubt)
	}
	const words = "Waiting for the servers that stay to forget those that are removed"
	if left := linger - in.Now.Sub(lastMoved(in)); left > 0 {
		return fsm.Wait(ReasonForgetting, "valkey").In(left).Because("Waiting a few seconds for clients to learn from removed servers where their slots are.")
	}
	effects, doubt := forgetLeavingNodes(in)
	switch {
	case len(effects) > 0:
		return fsm.Do(ReasonForgetting, effects...).Because(words + ".")
	case doubt != "":
		return fsm.Wait(ReasonForgetting, "valkey").In(recheck).Because("%s: %s.", words, doubt)
	}
	return fsm.Fire(NodesRemoved, ReasonForgotten)
}

// serves says that somebody sees slots at a server.
func serves(nodes topology.Nodes, id string) bool {
	return slices.ContainsFunc(nodes, func(by topology.Node) bool {
		if by.Server == nil {
			return false
		}
		p, _ := by.Server.Peer(id)
		return p.Slots != ""
	})
}

// forgetLeavingNodes has those that stay forget those that go, or says why these may not be forgotten yet.
func forgetLeavingNodes(in input) (effects []fsm.Effect, doubt string) {
	var ids []string
	for _, gone := range in.World.Nodes {
		if gone.Server != nil && leaves(in, gone) {
			ids = append(ids, gone.Server.ID)
		}
	}
	at := membersThatKnow(in, ids...)
	if len(at) == 0 {
		return nil, ""
	}
	proof, doubt := plan.ProveForgetLeaving(in.World.Nodes, leaving(in), lag)
	if doubt != "" {
		return nil, doubt
	}
	return []fsm.Effect{Forget{at, ids, proof}}, ""
}

// membersThatKnow are those that stay and list one of these servers.
func membersThatKnow(in input, ids ...string) (members []Member) {
	for _, by := range in.World.Nodes {
		if by.Server == nil || leaves(in, by) {
			continue
		}
		if slices.ContainsFunc(ids, func(id string) bool { _, listed := by.Server.Peer(id); return listed }) {
			members = append(members, memberOf(by))
		}
	}
	return members
}

// decideScalingDownStatefulSet removes what is not wanted any more: the last shards as
// a whole, and the last pods of others.
func decideScalingDownStatefulSet(in input) fsm.Decision {
	w := in.World
	if !w.looked() {
		return waitForLook("children", "the cluster's children")
	}
	// Who was forgotten and did not go in time is met again.
	if effects, _ := forgetLeavingNodes(in); len(effects) > 0 {
		return fsm.Do(ReasonForgetting, effects...).
			Because("Waiting for the servers that stay to forget those that are removed.")
	}
	if n, silent := withoutLeaving(in).Nodes.Silent(); silent {
		return fsm.Wait(ReasonPodsStarting, "pods", "valkey").In(recheck).Because("Waiting for %s to answer before others are removed.", n.Name)
	}
	effects, doubt := shrinkStatefulSets(in)
	if doubt != "" {
		return fsm.Wait(ReasonHoldsData, "valkey").In(recheck).Because("Pods are not removed yet: %s.", doubt)
	}
	const words = "Waiting for the pods that are no longer wanted to be removed."
	if len(effects) > 0 {
		return fsm.Do(ReasonShrinking, effects...).Because(words)
	}
	if _, unsettled := w.unsettled(); unsettled {
		return fsm.Wait(ReasonShrinking, "children").In(recheck).Because(words)
	}
	return fsm.Fire(StatefulSetScaled, ReasonApplied)
}

// leaving are the names of pods that are to go now.
func leaving(in input) (names []string) {
	for _, n := range in.World.Nodes {
		if leaves(in, n) {
			names = append(names, n.Name)
		}
	}
	return names
}

// shrinkStatefulSets removes the last shards and makes others narrower, if nothing is in the pods
// that go.
func shrinkStatefulSets(in input) (effects []fsm.Effect, doubt string) {
	w, wanted, gone := in.World, Wanted(in.Obj), leaving(in)
	if len(gone) == 0 {
		return nil, ""
	}
	proof, doubt := plan.ProveShrink(w.Nodes, gone, lag)
	if doubt != "" {
		return nil, doubt
	}
	for _, c := range slices.Backward(w.Children) { // from the last: the highest that exists is the record
		switch {
		case c.Kind != KindStatefulSet || c.Foreign || c.UID == "":
		case c.Shard >= len(wanted):
			effects = append(effects, RemoveShard{c.Ref, c.Shard, c.UID, c.Version, proof})
		case w.recorded(c) && w.Shape[c.Shard] > wanted[c.Shard]:
			effects = append(effects, ApplyChild{Child: c.Ref, UID: c.UID, Shard: c.Shard, Replicas: wanted[c.Shard], Keep: true, Proof: proof})
		}
	}
	return effects, ""
}
