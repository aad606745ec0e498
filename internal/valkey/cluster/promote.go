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

// orphaned lets the best replica of a shard take over whose primary has ended: servers
// themselves would wait for their timeout first, and then vote. One at a time, because
// votes are cast one after the other.
func orphaned(in input) []fsm.Effect {
	w := in.World
	if untilNextFailover(in) > 0 {
		return nil
	}
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		heir, found := heirOfDead(shard)
		if _, owned := shard.Owner(); owned || !found || mayReturn(in, shard) {
			continue
		}
		proof, doubt := plan.ProveForcedFailover(w.Nodes, heir.Server.ID, endedFor(in, shard))
		if doubt != "" {
			continue
		}
		dead := Member{ID: heir.Server.Self().Follows}
		return []fsm.Effect{Failover{At: memberOf(heir), From: dead, Gone: silent(shard), Proof: proof}}
	}
	return nil
}

// heirOfDead is the best copy of a shard.
func heirOfDead(shard topology.Nodes) (topology.Node, bool) {
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

// mayReturn says that a server that keeps its data has ended a moment ago, and is being
// started again.
func mayReturn(in input, shard topology.Nodes) bool {
	if !in.Obj.Spec.Persistence.Enabled {
		return false
	}
	for _, n := range shard {
		if n.Server == nil && n.Ended && n.Trouble == "" && in.Now.Sub(time.Unix(n.EndedAt, 0)) < restartWithin {
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
		if n.Server == nil && n.Ended && n.EndedAt > 0 {
			ended := in.Now.Sub(time.Unix(n.EndedAt, 0))
			if !known || ended < shortest {
				shortest, known = ended, true
			}
		}
	}
	return shortest
}

// silent names the pods of a shard whose servers do not answer.
func silent(shard topology.Nodes) (names []string) {
	for _, n := range shard {
		if n.Server == nil {
			names = append(names, n.Name)
		}
	}
	return names
}
