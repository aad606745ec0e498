package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// introduceNewNodes introduces servers that the cluster does not know yet to some that it is made
// of; the rest is gossip. One that holds something, or knows others than ours, is not
// introduced: it would bring that with it. All are all that are ours, also those that are to go.
func introduceNewNodes(w World, all topology.Nodes) (effects []fsm.Effect, waits fsm.Decision, stuck bool) {
	ours := map[string]bool{}
	for _, n := range all {
		if n.Server != nil {
			ours[n.Server.ID] = true
		}
	}
	var meet Meet
	for i, n := range w.Nodes {
		if n.Server == nil || isInCluster(w.Nodes, n) || canRejoinWithCopy(w.Nodes, n) {
			continue
		}
		if n.Server.Holds() {
			return nil, fsm.Wait(ReasonHoldsData, "valkey").In(recheck).
				Because("%s holds keys or slots, so it is not joined to the other servers; a person must decide what becomes of its data.", n.Name), true
		}
		for _, p := range n.Server.View {
			if p.State != topology.Handshake && !ours[p.ID] {
				return nil, fsm.Wait(ReasonUnknownServer, "valkey").In(recheck).
					Because("%s knows server %s, which is no pod of this cluster, so it is not joined to the others; delete its pod and volume if it holds nothing of value.", n.Name, p.ID), true
			}
		}
		if to := membersToMeet(w.Nodes, i); len(to) > 0 {
			meet.Introductions = append(meet.Introductions, Introduction{memberOf(n), to})
		}
	}
	return meet.effects(), fsm.Decision{}, false
}

// mostOwners is how many owners of slots a newcomer is introduced to: of the rest it hears.
const mostOwners = 64

// membersToMeet are those whom a newcomer is to meet: those who serve, and in a ring of all the
// first after it, the second, the fourth, and so on.
//
// Clients learn who owns what from any server that they hear of, and of a newcomer they
// hear as soon as one server knows it. What it does not know by then nobody owns, to them:
// so it hears of all slots at first hand, and at once.
func membersToMeet(nodes topology.Nodes, of int) (to []Member) {
	n := nodes[of]
	others := slices.Clone(nodes.Voters())
	others = others[:min(len(others), mostOwners)]
	for step := 1; step < len(nodes); step *= 2 {
		others = append(others, nodes[(of+step)%len(nodes)])
	}
	for _, other := range others {
		if other.Server == nil || n.Server.Knows(other.Server.ID) || inHandshake(n, other) || slices.Contains(to, memberOf(other)) {
			continue
		}
		to = append(to, memberOf(other))
	}
	return to
}

// isInCluster says that a server serves slots, or knows one that does and is known to it:
// it is in the cluster, and who does not know it yet will hear of it.
func isInCluster(nodes topology.Nodes, n topology.Node) bool {
	if n.Server.Self().Slots != "" {
		return true
	}
	for _, other := range nodes {
		if other.Server != nil && other.Server.Self().Slots != "" && n.Server.Knows(other.Server.ID) && other.Server.Knows(n.Server.ID) {
			return true
		}
	}
	return false
}

// knownToAll says that every other server knows this one, past the handshake, and it them.
func knownToAll(nodes topology.Nodes, n topology.Node) bool {
	for _, other := range nodes {
		if other.Server != nil && !(n.Server.Knows(other.Server.ID) && other.Server.Knows(n.Server.ID)) {
			return false
		}
	}
	return true
}

func allMet(nodes topology.Nodes) bool {
	for _, n := range nodes {
		if n.Server != nil && !knownToAll(nodes, n) {
			return false
		}
	}
	return true
}
