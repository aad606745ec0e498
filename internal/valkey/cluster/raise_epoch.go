package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// raiseEpochs raises the epoch of a primary whose replica somebody takes for a primary under a higher one.
//
// Servers are born as primaries, and those of the same epoch part by taking new ones. What a server said then may
// come late, after it became a replica; from then on it speaks in the name of its primary, under a lower epoch, and
// since 9 nobody believes that any more who heard it. If the primary does not, the replica can never take over.
func raiseEpochs(in input) (effects []fsm.Effect) {
	w := in.World
	// At first every look finds somebody who has not heard yet.
	if in.Now.Sub(in.Obj.Status.Since.Time) < raiseEpochAfter || w.Migration == Moving || untilNextFailover(in) > 0 {
		return nil
	}
	for _, n := range w.Nodes {
		primary, above, is := seenAsPrimary(w.Nodes, n)
		if !is || leaves(in, n) {
			continue
		}
		if proof, doubt := plan.ProveRaiseEpoch(w.Nodes, primary.Server.ID); doubt == "" {
			effects = append(effects, RaiseEpoch{At: memberOf(primary), For: memberOf(n), Above: above, Proof: proof})
		}
	}
	// Two replicas of one primary need it once.
	return slices.CompactFunc(effects, func(a, b fsm.Effect) bool { return a.(RaiseEpoch).At == b.(RaiseEpoch).At })
}

// seenAsPrimary says that a replica in sync is a primary in the eyes of somebody, in a higher epoch than that of the one it follows.
func seenAsPrimary(nodes topology.Nodes, n topology.Node) (primary topology.Node, epoch int64, is bool) {
	if n.Server == nil || n.Server.Self().Follows == "" || !n.Server.Synced {
		return primary, 0, false
	}
	primary, answers := nodes.ByID(n.Server.Self().Follows)
	if !answers {
		return primary, 0, false
	}
	for _, by := range nodes {
		if by.Server == nil || topology.Older(by.Server.Version, "9") {
			continue // before, it passes by itself
		}
		p, known := by.Server.Peer(n.Server.ID)
		if known && p.State != topology.Handshake && p.Follows == "" && p.Epoch > primary.Server.Self().Epoch {
			epoch, is = max(epoch, p.Epoch), true
		}
	}
	return primary, epoch, is
}
