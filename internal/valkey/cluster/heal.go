package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// standing are the phases of a cluster that was formed: in all of them servers may be lost, and
// places may have to be filled again. But for the one in which new places are just being made,
// which takes moments: who comes there first would be introduced alone.
var standing = slices.Concat([]fsm.Phase{VerifyingClusterHealth, Running, Degraded, Failed}, growing[1:], shrinking)

// mostToMeet is how many others a server that moved is introduced to: they tell the rest.
const mostToMeet = 4

// heal brings back what a cluster that was formed has lost of itself, and can be brought
// back without a choice: servers that moved are introduced at their new address, new
// ones in the place of lost ones join and replicate, and lost ones are forgotten.
func heal(in input) (fsm.Decision, bool) {
	w := in.World
	if !w.Formed || !w.looked() || in.Obj.Spec.Paused || in.Obj.DeletionTimestamp != nil || w.dataLost() ||
		!slices.Contains(standing, in.Obj.Status.Phase) || len(w.Nodes) != w.Shape.Nodes() {
		return fsm.Decision{}, false
	}
	for _, part := range []struct {
		of    func(input) []fsm.Effect
		words string
	}{
		{promoteReplica, "The manager promotes a replica of a primary that has ended."},
		{updateAddresses, "The manager introduces servers at their new address."},
		{rejoinNodes, "The manager introduces servers again that were to be removed."},
		{joinEmptyNodes, "The manager joins servers that replace lost ones."},
		{attachReplicas, "The manager attaches servers that replace lost ones to their primary."},
		{raiseEpochs, "The manager raises the epoch of a primary whose replica others take for a primary."},
		{forgetFailedNodes, "The manager removes servers that are gone from the node tables."},
		{restartEmptyShards, "The manager restarts servers that lost their data and wait for a copy that no longer exists."},
		{forgetSlotOwners, "The manager removes the owner of slots whose data is gone from the node tables."},
		{refillLostShards, "The manager gives the slots of a shard that lost all its data to its empty servers."},
	} {
		if effects := part.of(in); len(effects) > 0 {
			return fsm.Do(ReasonHealing, effects...).Because("%s", part.words), true
		}
	}
	return fsm.Decision{}, false
}

// updateAddresses introduces servers to those that look for them elsewhere. After all pods were
// restarted everyone does, and nobody would find anybody.
func updateAddresses(in input) (effects []fsm.Effect) {
	var meet Meet
	for _, n := range in.World.Nodes {
		if n.Server == nil || leaves(in, n) {
			continue
		}
		if to := membersWithOldAddress(in.World.Nodes, n); len(to) > 0 {
			meet.Introductions = append(meet.Introductions, Introduction{memberOf(n), to})
		}
	}
	return meet.effects()
}

// effects is the introduction of all, or nothing if there is nobody to introduce.
func (e Meet) effects() []fsm.Effect {
	if len(e.Introductions) == 0 {
		return nil
	}
	return []fsm.Effect{e}
}

// membersWithOldAddress are some of those who know a server, and look for it where it is not.
func membersWithOldAddress(nodes topology.Nodes, n topology.Node) (to []Member) {
	for _, by := range nodes {
		if by.Server == nil || by.Name == n.Name || len(to) == mostToMeet || !n.Server.Knows(by.Server.ID) {
			continue
		}
		if knowsOldAddress(by, n) {
			to = append(to, memberOf(by))
		}
	}
	return to
}

// knowsOldAddress says that a server has another address of a node in its node table than the node's own.
func knowsOldAddress(by, of topology.Node) bool {
	p, listed := by.Server.Peer(of.Server.ID)
	return listed && p.State != topology.Handshake && p.Addr != of.Addr
}

// joinEmptyNodes introduces servers that hold nothing, in shards that others serve.
func joinEmptyNodes(in input) (effects []fsm.Effect) {
	w := withoutLeaving(in)
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n topology.Node) bool {
		_, owned := in.World.Nodes.Shard(n.Shard).Owner()
		return !owned
	})
	effects, _, _ = introduceNewNodes(w, in.World.Nodes)
	return effects
}

// withoutLeaving is the World without those who are to go now.
func withoutLeaving(in input) World {
	w := in.World
	w.Nodes = slices.DeleteFunc(slices.Clone(w.Nodes), func(n topology.Node) bool { return leaves(in, n) })
	return w
}

// attachReplicas attaches servers that hold nothing and are known to the owner of their shard.
func attachReplicas(in input) (effects []fsm.Effect) {
	w := in.World
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		if !owned || owner.Server.Self().Follows != "" {
			continue
		}
		for _, n := range shard {
			if n.Server != nil && n.Name != owner.Name && !leaves(in, n) && !n.Server.Holds() && n.Server.Knows(owner.Server.ID) {
				effects = append(effects, Replicate{memberOf(n), memberOf(owner)})
			}
		}
	}
	return effects
}

// forgetFailedNodes lets everyone forget servers that no pod answers for any more, and that all
// who know them have given up.
func forgetFailedNodes(in input) (effects []fsm.Effect) {
	// A server that does not run keeps its name, and on a volume its data, as long as its pod
	// exists: a node without power is not the end of them. Once forgotten it would come back
	// as one that nobody lets in, for as long as the ban lasts.
	absent := slices.ContainsFunc(in.World.Nodes, func(n topology.Node) bool { return n.Server == nil && !leaves(in, n) })
	if absent {
		return nil
	}
	// Who has no address is not looked for, and so never found to fail.
	ids, at := serversInStates(in.World.Nodes, topology.Failed, topology.Unlocated)
	for _, id := range ids {
		if proof, doubt := plan.ProveForget(in.World.Nodes, id); doubt == "" {
			effects = append(effects, Forget{at[id], []string{id}, proof})
		}
	}
	return effects
}

// serversInStates are servers that everybody sees in one of these states, and who lists them.
func serversInStates(nodes topology.Nodes, states ...topology.State) (ids []string, at map[string][]Member) {
	at = map[string][]Member{}
	alive := map[string]bool{}
	for _, by := range nodes {
		if by.Server == nil {
			continue
		}
		alive[by.Server.ID] = true
		for _, p := range by.Server.View {
			switch {
			case p.State == topology.Handshake:
			case !slices.Contains(states, p.State):
				alive[p.ID] = true
			default:
				if at[p.ID] == nil {
					ids = append(ids, p.ID)
				}
				at[p.ID] = append(at[p.ID], memberOf(by))
			}
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return alive[id] }), at
}

// detachedNode is a server that answers and has no part in the cluster: it neither serves the
// slots of its shard nor follows who does.
func detachedNode(w World) (topology.Node, bool) {
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		if _, silent := shard.Silent(); silent && !owned {
			continue // whoever does not answer just now may be the owner
		}
		for _, n := range shard {
			if n.Server != nil && (!owned || n.Name != owner.Name && n.Server.Self().Follows != owner.Server.ID) {
				return n, true
			}
		}
	}
	return topology.Node{}, false
}
