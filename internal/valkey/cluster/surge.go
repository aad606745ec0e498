package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// While an upgrade has the cluster, nothing of it goes but what the upgrade asks to go: the
// replica that a shard without any had for the upgrade only. It goes as any replica does,
// only under the reservation of the upgrade: what the shard had is served by another, its
// server is forgotten, and then its pod is removed.

// asksToRemove says that the upgrade asks for a shard without this node. That it does not ask is
// no wish: an older copy of it knew less.
func (u *Upgrade) asksToRemove(n topology.Node) bool {
	return slices.ContainsFunc(u.Asks, func(a Ask) bool { return a.Shard == n.Shard && a.Replicas != nil && n.Ordinal > *a.Replicas })
}

// removeSurgeReplicas takes away what an upgrade had asked for, and needs no more.
func removeSurgeReplicas(in input) []fsm.Effect {
	w := in.World
	var leaving topology.Nodes
	for _, n := range w.Nodes {
		if leaves(in, n) {
			leaving = append(leaving, n)
		}
	}
	if !w.Formed || len(leaving) == 0 || len(w.Nodes) != w.Shape.Nodes() {
		return nil
	}
	if effects, doubt := forgetLeavingNodes(in); len(effects) > 0 || doubt != "" {
		return effects
	}
	return narrowShards(w, leaving)
}

// narrowShards makes shards as narrow as they were, if nothing is in the pods that go. If it were
// wrong, a copy of their data would be lost.
func narrowShards(w World, leaving topology.Nodes) (effects []fsm.Effect) {
	var names []string
	width := map[int]int{}
	for _, n := range slices.Backward(leaving) {
		names, width[n.Shard] = append(names, n.Name), n.Ordinal-1
	}
	proof, doubt := plan.ProveShrink(w.Nodes, names, lag)
	if doubt != "" {
		return nil
	}
	for _, c := range w.Children {
		if replicas, goes := width[c.Shard]; goes && c.Kind == KindStatefulSet && c.UID != "" && !c.Foreign {
			effects = append(effects, ApplyChild{Child: c.Ref, UID: c.UID, Shard: c.Shard, Replicas: replicas, Keep: true, Proof: proof})
		}
	}
	return effects
}
