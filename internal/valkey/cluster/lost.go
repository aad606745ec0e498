package cluster

import (
	"fmt"
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// lostShards are those that came back with nothing: all their servers answer and hold nothing,
// or miss their data, and there are slots that nobody owns, and others. As long as anybody else is
// silent nothing is called lost.
func lostShards(in input) (lost []int) {
	w := in.World
	silent := slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Server == nil && !dataMissing(in, n) })
	count, _, contested := w.Nodes.Assigned()
	if !w.Formed || silent || len(w.Nodes) != w.Shape.Nodes() || contested || count == topology.TotalSlots {
		return nil
	}
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		something := slices.ContainsFunc(shard, func(n topology.Node) bool { return n.Server != nil && n.Server.Holds() && !neverSynced(w, n) })
		if !something && !leaves(in, shard[0]) {
			lost = append(lost, i)
		}
	}
	return lost
}

// neverSynced is a replica that never had a copy of a primary that is gone, and is not about to get one:
// a primary whose pod is gone may live on out of our sight.
func neverSynced(w World, n topology.Node) bool {
	self := n.Server.Self()
	return self.Follows != "" && !seenAlive(w.Nodes, self.Follows) && self.Slots == "" &&
		n.Server.Empty && !n.Server.Copies() && !n.Server.Syncing && !n.Server.Loading
}

// seenAlive says that somebody takes a server for alive, if only itself.
func seenAlive(nodes topology.Nodes, id string) bool {
	return slices.ContainsFunc(nodes, func(by topology.Node) bool {
		if by.Server == nil {
			return false
		}
		p, listed := by.Server.Peer(id)
		return listed && p.State == ""
	})
}

// shardLost says so, and what a person can do about it.
func shardLost(in input) (words string, is bool) {
	lost := lostShards(in)
	switch {
	case len(lost) == 0:
		return "", false
	case in.Obj.Spec.OnTotalLoss == valkeyv1.RecreateOnTotalLoss && !mayRefillLostShards(in):
		return fmt.Sprintf("Shard %d came back empty while slots were being moved, whose keys may be elsewhere: %s; see SlotsLost in the runbook.", lost[0], howToClose(in.World)), true
	case mayRefillLostShards(in):
		return fmt.Sprintf("Shard %d came back empty; spec.onTotalLoss asks for an empty one, which the manager forms.", lost[0]), true
	}
	return fmt.Sprintf("Shard %d came back empty; restore its data, or set spec.onTotalLoss to Recreate to continue without it.", lost[0]), true
}

// howToClose is what a person can do about slots that are open with a server that is gone: whoever has keys of
// them keeps these. To close one otherwise would lose them, so it is not done unasked.
func howToClose(w World) string {
	for _, n := range w.Nodes {
		if n.Server == nil || n.Server.Self().Follows != "" {
			continue
		}
		for _, o := range n.Server.Open {
			if _, answers := w.Nodes.ByID(o.Peer); answers {
				continue
			}
			if o.Importing {
				return fmt.Sprintf("slot %d was on its way to %s, which keeps the keys that have come by `valkey-cli cluster setslot %d node %s` in that pod", o.Slot, n.Name, o.Slot, n.Server.ID)
			}
			return fmt.Sprintf("slot %d was on its way from %s, which keeps the keys that have not gone by `valkey-cli cluster setslot %d stable` in that pod", o.Slot, n.Name, o.Slot)
		}
	}
	return "wait until they have arrived"
}

// mayRefillLostShards says that shards that were lost may begin anew: the user said so, and no slot
// is on its way, whose keys may be elsewhere.
func mayRefillLostShards(in input) bool {
	return in.Obj.Spec.OnTotalLoss == valkeyv1.RecreateOnTotalLoss && in.World.Migration != Moving && openSlots(in.World) == 0 && len(lostShards(in)) > 0
}

// dataMissing is a server that lost what it had, and is kept from starting by a replica that may have
// it. Where data is in memory only, one that was replaced has nothing of it.
func dataMissing(in input, n topology.Node) bool {
	return n.Server == nil && n.DataMissing && !n.Leaving && !in.Obj.Spec.Persistence.Enabled
}

// restartEmptyShards lets servers of lost shards begin anew that wait for who will not come: the pods of
// primaries are replaced, and replicas forget whom they followed.
//
// NOTE: what would be lost is the name of the server. Of its data there is none: it said so, it
// is not on a volume, and nobody else of its shard, who all answer, has any.
func restartEmptyShards(in input) (effects []fsm.Effect) {
	if !mayRefillLostShards(in) {
		return nil
	}
	lost := lostShards(in)
	everything := len(lost) == len(in.World.Shape)
	for _, n := range in.World.Nodes {
		switch {
		case !slices.Contains(lost, n.Shard):
		case dataMissing(in, n):
			effects = append(effects, DeletePod{n.Name, n.UID, n.Version})
		case neverSynced(in.World, n):
			effects = append(effects, Reset{memberOf(n)})
		case everything && len(n.Server.View) > 1: // introduced already, and what it was for is lost as well
			effects = append(effects, Reset{memberOf(n)})
		}
	}
	return effects
}

// forgetSlotOwners lets everyone forget the owners of slots whose data is gone.
func forgetSlotOwners(in input) (effects []fsm.Effect) {
	if !mayRefillLostShards(in) {
		return nil
	}
	// Where half of the primaries are gone, the others never come to call them failed.
	ids, at := serversInStates(in.World.Nodes, topology.Failed, topology.Unlocated, topology.Suspected)
	for _, id := range ids {
		if proof, doubt := plan.ProveForgetSlotOwner(in.World.Nodes, id); doubt == "" {
			effects = append(effects, ForgetSlotOwner{at[id], id, proof})
		}
	}
	return effects
}

// refillLostShards introduces the servers of shards that were lost, and gives them the slots that
// nobody is seen to own by anybody.
func refillLostShards(in input) (effects []fsm.Effect) {
	free := unclaimedSlots(in.World.Nodes)
	if count, _, _ := in.World.Nodes.Assigned(); count == 0 || !mayRefillLostShards(in) || free.Count() != topology.TotalSlots-count {
		return nil
	}
	w := withoutLeaving(in)
	if effects, _, stuck := introduceNewNodes(w, in.World.Nodes); len(effects) > 0 || stuck || !allMet(w.Nodes) {
		return effects
	}
	lost := lostShards(in)
	for k, i := range lost {
		effects = append(effects, AddSlots{memberOf(w.Nodes.Shard(i)[0]), nthPart(free, k, len(lost))})
	}
	return effects
}

// unclaimedSlots are the slots that nobody is seen to own.
func unclaimedSlots(nodes topology.Nodes) topology.Slots {
	free := topology.Range(0, topology.TotalSlots-1)
	for _, n := range nodes {
		if n.Server == nil {
			continue
		}
		for _, p := range n.Server.View {
			free = free.Without(p.Slots)
		}
	}
	return free
}

// nthPart is one of n parts of slots that are about equal.
func nthPart(slots topology.Slots, k, n int) (out topology.Slots) {
	list := slots.List()
	list = list[k*len(list)/n : (k+1)*len(list)/n]
	for first := 0; first < len(list); {
		last := first
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		out = out.With(topology.Range(list[first], list[last]))
		first = last + 1
	}
	return out
}
