package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// rejoinNodes introduces servers to those that forgot them, and whom they know: they were to go,
// and then an edit wanted them back. Those that forgot them may refuse them for a minute.
func rejoinNodes(in input) (effects []fsm.Effect) {
	nodes := in.World.Nodes
	var meet Meet
	for _, n := range nodes {
		if !hasPlace(in, n) || !safeToRejoin(nodes, n) {
			continue
		}
		if to := membersThatForgot(in, n); len(to) > 0 {
			meet.Introductions = append(meet.Introductions, Introduction{memberOf(n), to})
		}
	}
	return meet.effects()
}

// hasPlace says that a node is not to go: it is wanted, or something else comes before it goes, for which all that there
// is must be one cluster.
func hasPlace(in input, n topology.Node) bool {
	wanted := Wanted(in.Obj)
	switch {
	case leaves(in, n):
		return false
	case n.Shard < len(wanted) && n.Ordinal <= wanted[n.Shard]:
		return true
	}
	event, _ := scaleEvent(in)
	goes := event == ScaleDownDetected || event == ReplicaScaleDownDetected
	return !goes || !approved(in) || in.World.Upgrade != nil || in.World.Reservation.State == reserve.Others
}

// membersThatForgot are some of those that a server knows, and that do not know it. One that holds
// nothing has not forgotten anybody: it is new.
func membersThatForgot(in input, n topology.Node) (to []Member) {
	for _, by := range in.World.Nodes {
		if by.Server != nil && by.Server.Holds() && !leaves(in, by) && len(to) < mostToMeet &&
			n.Server.Knows(by.Server.ID) && !by.Server.Knows(n.Server.ID) && !inHandshake(by, n) {
			to = append(to, memberOf(by))
		}
	}
	return to
}

// safeToRejoin is a server that brings nothing with it that others do not have: it holds nothing,
// or a copy of what another of its shard holds, and knows no others but such that are known to be gone.
func safeToRejoin(nodes topology.Nodes, n topology.Node) bool {
	if n.Server == nil || n.Server.Self().Slots != "" {
		return false
	}
	if primary, answers := nodes.ByID(n.Server.Self().Follows); n.Server.Holds() && (!answers || primary.Shard != n.Shard) {
		return false
	}
	return !slices.ContainsFunc(n.Server.View, func(p topology.Peer) bool {
		_, ours := nodes.ByID(p.ID)
		return !ours && p.State != topology.Failed && p.State != topology.Unlocated && p.State != topology.Handshake
	})
}

// canRejoinWithCopy says that a server has a copy of its shard already, and is to be introduced again.
func canRejoinWithCopy(nodes topology.Nodes, n topology.Node) bool {
	return n.Server.Holds() && safeToRejoin(nodes, n)
}
