package cluster

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// spreadAfter is how long a cluster must have been Running: whoever drains machines one after the other is not followed
// around.
const spreadAfter = 30 * time.Second

// spreadPrimaries lets a replica elsewhere take over where one machine has the majority of the primaries. If that machine were
// lost, nobody could be elected in their place.
func spreadPrimaries(in input) (d fsm.Decision, is bool) {
	w := in.World
	if in.Obj.Spec.Paused || w.Upgrade != nil || w.Reservation.State == reserve.Others {
		return d, false
	}
	if _, healthy := healthy(in); !healthy {
		return d, false
	}
	from, candidate, proof, found := spreadCandidate(w)
	if !found {
		return d, false
	}
	if left := max(spreadAfter-in.Now.Sub(in.Obj.Status.Since.Time), untilNextFailover(in)); left > 0 {
		return fsm.Wait(ReasonClusterHealthy, "pods", "valkey", "children").In(left).
			Because("%s Most primaries are on machine %s, so %s takes over from %s soon.", healthyWords(w), from.Host, candidate.Name, from.Name), true
	}
	return fsm.Do(ReasonSpreading, Failover{At: memberOf(candidate), From: memberOf(from), Proof: proof}).
		Because("Waiting for %s to take over from %s: most primaries are on machine %s.", candidate.Name, from.Name, from.Host), true
}

// spreadCandidate is a primary on a machine that has most of them, and a replica of it on one that would have fewer.
func spreadCandidate(w World) (from, candidate topology.Node, proof plan.FailoverProof, found bool) {
	primaries, owners := map[string]int{}, topology.Nodes{}
	for i := range w.Shape {
		owner, owned := w.Nodes.Shard(i).Owner()
		if !owned || owner.Host == "" {
			return from, candidate, nil, false
		}
		owners = append(owners, owner)
		primaries[owner.Host]++
	}
	for _, owner := range owners {
		if 2*primaries[owner.Host] <= len(owners) {
			continue
		}
		for _, n := range w.Nodes.Shard(owner.Shard) {
			// With one more it must still have fewer than the first has now, or they would take turns.
			if n.Server == nil || n.Host == "" || n.Host == owner.Host || primaries[n.Host]+1 >= primaries[owner.Host] {
				continue
			}
			if proof, doubt := plan.ProveFailover(w.Nodes, n.Server.ID, lag); doubt == "" {
				return owner, n, proof, true
			}
		}
	}
	return from, candidate, nil, false
}
