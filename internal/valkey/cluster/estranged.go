package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// estranged introduces servers to those that forgot them, and whom they know: they were to go,
// and then an edit wanted them back. Those that forgot them may refuse them for a minute.
func estranged(in input) (effects []fsm.Effect) {
	nodes := in.World.Nodes
	var meet Meet
	for _, n := range nodes {
		if !hasPlace(in, n) || !blameless(nodes, n) {
			continue
		}
		if to := forgetful(nodes, n); len(to) > 0 {
			meet.Introductions = append(meet.Introductions, Introduction{memberOf(n), to})
		}
	}
	return meet.effects()
}

// hasPlace says that a node is one of those that are wanted, by the spec or for an upgrade.
func hasPlace(in input, n topology.Node) bool {
	if wanted := Wanted(in.Obj); n.Shard < len(wanted) && n.Ordinal <= wanted[n.Shard] {
		return true
	}
	return in.World.Upgrade != nil && slices.ContainsFunc(in.World.Upgrade.Asks, func(a Ask) bool {
		return a.Shard == n.Shard && a.Replicas != nil && n.Ordinal <= *a.Replicas
	})
}

// forgetful are some of those that a server knows, and that do not know it. One that holds
// nothing has not forgotten anybody: it is new.
func forgetful(nodes topology.Nodes, n topology.Node) (to []Member) {
	for _, by := range nodes {
		if by.Server != nil && by.Server.Holds() && len(to) < mostHosts &&
			n.Server.Knows(by.Server.ID) && !by.Server.Knows(n.Server.ID) && !shakesHands(by, n) {
			to = append(to, memberOf(by))
		}
	}
	return to
}

// blameless is a server that brings nothing with it that others do not have: it holds nothing,
// or a copy of what another of its shard holds, and knows no others that live.
func blameless(nodes topology.Nodes, n topology.Node) bool {
	if n.Server == nil || n.Server.Self().Slots != "" {
		return false
	}
	if primary, answers := nodes.ByID(n.Server.Self().Follows); n.Server.Holds() && (!answers || primary.Shard != n.Shard) {
		return false
	}
	return !slices.ContainsFunc(n.Server.View, func(p topology.Peer) bool {
		_, ours := nodes.ByID(p.ID)
		return !ours && p.State == ""
	})
}

// returns says that a server has a copy of its shard already, and is to be introduced again.
func returns(nodes topology.Nodes, n topology.Node) bool {
	return n.Server.Holds() && blameless(nodes, n)
}
