package cluster

import (
	"fmt"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// lostShards are those that came back with nothing: all their servers answer and hold nothing,
// and there are slots that nobody owns, and others. As long as anybody is silent nothing is
// called lost.
func lostShards(in input) (lost []int) {
	w := in.World
	_, missing := w.missing()
	count, _, contested := w.Nodes.Assigned()
	if !w.Formed || missing || contested || count == 0 || count == topology.TotalSlots {
		return nil
	}
	for i := range w.Shape {
		shard := w.Nodes.Shard(i)
		if _, holds := shard.Holding(); !holds && !leaves(in, shard[0]) {
			lost = append(lost, i)
		}
	}
	return lost
}

// shardLost says so, and what a person can do about it.
func shardLost(in input) (words string, is bool) {
	lost := lostShards(in)
	switch {
	case len(lost) == 0:
		return "", false
	case replaceable(in):
		return fmt.Sprintf("shard %d came back empty; spec.onTotalLoss asks for an empty one", lost[0]), true
	}
	return fmt.Sprintf("shard %d came back empty; restore its data, or set spec.onTotalLoss to Recreate to go on without", lost[0]), true
}

// replaceable says that shards that were lost may begin anew: the user said so, and no slot
// is on its way, whose keys may be elsewhere.
func replaceable(in input) bool {
	return in.Obj.Spec.OnTotalLoss == valkeyv1.RecreateOnTotalLoss && in.World.Migration != Moving && openSlots(in.World) == 0 && len(lostShards(in)) > 0
}

// buried lets everyone forget the owners of slots whose data is gone.
func buried(in input) (effects []fsm.Effect) {
	if !replaceable(in) {
		return nil
	}
	ids, at := givenUp(in.World.Nodes)
	for _, id := range ids {
		if proof, doubt := plan.ProveBury(in.World.Nodes, id); doubt == "" {
			effects = append(effects, Bury{at[id], id, proof})
		}
	}
	return effects
}

// replaced introduces the servers of shards that were lost, and gives them the slots that
// nobody is seen to own by anybody.
func replaced(in input) (effects []fsm.Effect) {
	free := unclaimed(in.World.Nodes)
	if count, _, _ := in.World.Nodes.Assigned(); !replaceable(in) || free.Count() != topology.TotalSlots-count {
		return nil
	}
	w := staying(in)
	if effects, _, stuck := welcome(w); len(effects) > 0 || stuck || !acquainted(w.Nodes) {
		return effects
	}
	lost := lostShards(in)
	for k, i := range lost {
		effects = append(effects, AddSlots{memberOf(w.Nodes.Shard(i)[0]), part(free, k, len(lost))})
	}
	return effects
}

// unclaimed are the slots that nobody is seen to own.
func unclaimed(nodes topology.Nodes) topology.Slots {
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

// part is one of n parts of slots that are about equal.
func part(slots topology.Slots, k, n int) (out topology.Slots) {
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
