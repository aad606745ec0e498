package cluster

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	// restartWithin is how long a server that keeps its data may take to come back, before
	// a replica takes over from it: it has what no replica may have.
	restartWithin = 5 * time.Second
	// staleAfter is how many node timeouts ago a replica may have lost its primary to take
	// over from one of which it is not known when it ended: as Valkey itself has it.
	staleAfter = 10
)

// promoteReplica lets the best replica of a shard take over whose primary has ended: servers
// themselves would wait for their timeout first, and then vote. One at a time, because
// votes are cast one after the other.
func promoteReplica(in input) []fsm.Effect {
	w := in.World
	soon := untilNextFailover(in) > 0
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		if soon && !promotedElsewhere(in, i) {
			continue
		}
		candidate, found := bestCopy(shard)
		if _, owned := shard.Owner(); owned || !found || mayReturn(in, shard) {
			continue
		}
		proof, doubt := plan.ProveForcedFailover(w.Nodes, candidate.Server.ID, endedFor(in, shard))
		if doubt != "" {
			continue
		}
		dead := Member{ID: candidate.Server.Self().Follows}
		gone, refusing := silentPods(shard)
		return []fsm.Effect{Failover{At: memberOf(candidate), From: dead, Gone: gone, Refusing: refusing, Proof: proof}}
	}
	return nil
}

// promotedElsewhere says that who was asked last is the primary of another shard by now, so that nothing is
// under way that another request would disturb. Servers that cast their votes rarely are not asked more often.
func promotedElsewhere(in input, shard int) bool {
	if _, spacing := in.World.Nodes.Spacing(); spacing > 0 {
		return false
	}
	for _, n := range in.World.Nodes {
		if n.Name == in.Obj.Status.LastPromoted && n.Server != nil {
			self := n.Server.Self()
			return n.Shard != shard && self.Follows == "" && self.Slots != ""
		}
	}
	return false
}

// bestCopy is the best copy of a shard.
func bestCopy(shard topology.Nodes) (topology.Node, bool) {
	var copies []*topology.Server
	for _, n := range shard {
		copies = append(copies, n.Server)
	}
	best, found := topology.Best(copies)
	if !found {
		return topology.Node{}, false
	}
	return shard.ByID(best.ID)
}

// mayReturn says that a server that keeps its data has ended a moment ago, or nobody listens
// at it yet or any more, and is being started again.
func mayReturn(in input, shard topology.Nodes) bool {
	if !in.Obj.Spec.Persistence.Enabled {
		return false
	}
	for _, n := range shard {
		if n.RefusesConnections() || n.Server == nil && n.Ended && !n.Trouble.Stopped() && in.Now.Sub(time.Unix(n.EndedAt, 0)) < restartWithin {
			return true
		}
	}
	return false
}

// endedFor is for how long the primary of a shard has not run, as far as that is known: the
// shortest of those that do not answer. One that has been broken for long was no primary, and
// a replica that is as far behind is none that may take over.
func endedFor(in input, shard topology.Nodes) time.Duration {
	shortest := staleAfter * nodeTimeout(in)
	known := false
	for _, n := range shard {
		if n.RefusesConnections() {
			return 0
		}
		if n.Server == nil && n.Ended && n.EndedAt > 0 {
			ended := in.Now.Sub(time.Unix(n.EndedAt, 0))
			if !known || ended < shortest {
				shortest, known = ended, true
			}
		}
	}
	return shortest
}

// silentPods names the pods of a shard whose servers do not answer: those that have ended, and
// those at which nobody listens.
func silentPods(shard topology.Nodes) (gone, refusing []string) {
	for _, n := range shard {
		switch {
		case n.Server != nil:
		case n.RefusesConnections():
			refusing = append(refusing, n.Name)
		default:
			gone = append(gone, n.Name)
		}
	}
	return gone, refusing
}
