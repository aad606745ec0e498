package cluster

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// handOver lets the primary of a shard that stays, whose own pod is to go, be followed
// by a replica that stays.
func handOver(in input) (fsm.Decision, bool) {
	w, wanted := in.World, Wanted(in.Obj)
	for i := range min(len(w.Shape), len(wanted)) {
		shard := w.Nodes.Shard(i)
		owner, owned := shard.Owner()
		if !owned {
			return fsm.Wait(ReasonSlotsLost, "valkey").In(recheck).Because("shard %d owns no slots", i), true
		}
		if !leaves(in, owner) {
			continue
		}
		heir, proof, doubt := heirOf(in, shard)
		if doubt != "" {
			return fsm.Wait(ReasonNoHeir, "valkey").In(recheck).Because("shard %d to have a replica that stays and can take over: %s", i, doubt), true
		}
		return fsm.Do(ReasonFailingOver, Failover{memberOf(heir), memberOf(owner), proof}).
			Because("%s to take over from %s, which goes", heir.Name, owner.Name), true
	}
	return fsm.Decision{}, false
}

// lag is how many bytes a replica may be behind when it is asked to take over: what a
// primary sends within moments.
const lag = 1 << 20

// heirOf is the best of the replicas that stay, with the proof that it may take over, or
// what is in its way.
func heirOf(in input, shard topology.Nodes) (heir topology.Node, proof plan.FailoverProof, doubt string) {
	var copies []*topology.Server
	for _, n := range shard {
		if n.Server != nil && !leaves(in, n) {
			copies = append(copies, n.Server)
		}
	}
	best, found := topology.Best(copies)
	if !found {
		return heir, nil, "there is none"
	}
	heir, _ = shard.ByID(best.ID)
	proof, doubt = plan.ProveFailover(in.World.Nodes, best.ID, lag)
	return heir, proof, doubt
}
