package cluster

import (
	"fmt"
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// wish lets the StatefulSets be looked for that the spec asks for.
func wish(c *valkeyv1.ValkeyCluster, w *World) {
	for i := len(w.Shape); w.looked() && i < len(Wanted(c)); i++ {
		if _, listed := w.child(func(c Child) bool { return c.Kind == KindStatefulSet && c.Shard == i }); !listed {
			w.Children = append(w.Children, Child{Ref: Ref{KindStatefulSet, fmt.Sprintf("%s-%d", c.Name, i)}, Shard: i})
		}
	}
}

// resize makes a shard as wide as it was applied: places come, or go with their pods.
func resize(w *World, e ApplyChild) {
	if e.Child.Kind != KindStatefulSet || !w.Formed {
		return
	}
	for i := len(w.Shape); i <= e.Shard; i++ {
		w.Shape = append(w.Shape, -1) // of shards in between nothing is known yet
	}
	for j := w.Shape[e.Shard] + 1; j <= e.Replicas; j++ {
		pod := topology.Pod{Name: fmt.Sprintf("%s-%d", e.Child.Name, j), Shard: e.Shard, Ordinal: j}
		w.Nodes = append(w.Nodes, topology.Node{Pod: pod})
	}
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n topology.Node) bool { return n.Shard == e.Shard && n.Ordinal > e.Replicas })
	slices.SortFunc(w.Nodes, func(a, b topology.Node) int { return (a.Shard-b.Shard)*10 + a.Ordinal - b.Ordinal })
	w.Shape[e.Shard] = e.Replicas
}

// removeShard takes the last shard away.
func removeShard(w *World, e RemoveShard) {
	i := slices.IndexFunc(w.Children, func(c Child) bool { return c.Ref == e.Child && c.UID == e.UID })
	if i < 0 || w.Children[i].Shard != len(w.Shape)-1 {
		return
	}
	w.Shape = w.Shape[:len(w.Shape)-1]
	w.Children = slices.Delete(w.Children, i, i+1)
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n topology.Node) bool { return n.Shard >= len(w.Shape) })
}

// begin starts the work that moves slots, if there is any.
func begin(w *World, e MoveSlots) {
	if left, doubt := toMove(*w, e.Shards); left > 0 && doubt == "" {
		w.Migration = Moving
	}
}

// migrate is what the work that moves slots comes to.
func migrate(c *valkeyv1.ValkeyCluster, w *World) (moved bool) {
	if w.Migration != Moving {
		return false
	}
	shards := len(w.Shape)
	if c.Status.Phase == EvacuatingSlots {
		shards = min(shards, len(Wanted(c)))
	}
	for i := range w.Shape {
		owner, owned := w.Nodes.Shard(i).Owner()
		if first := mayBePrimary(w.Nodes.Shard(i)); !owned && len(first) > 0 {
			owner, owned = first[0], true
		}
		if owned {
			s := &owner.Server.View[self(owner.Server)]
			s.Slots = ""
			if i < shards {
				s.Slots = topology.Share(i, shards)
			}
		}
	}
	w.Migration = Ended
	return true
}

func takeOver(nodes topology.Nodes, e Failover) {
	candidate, from := server(nodes, e.At), server(nodes, e.From)
	if candidate == nil || candidate.Self().Follows != e.From.ID || from == nil && !e.Proof.Forced() {
		return
	}
	h := &candidate.View[self(candidate)]
	was, _ := candidate.Peer(e.From.ID)
	h.Follows, h.Slots = "", was.Slots
	if from != nil {
		f := &from.View[self(from)]
		h.Slots, f.Follows, f.Slots = f.Slots, candidate.ID, ""
	}
	for _, n := range nodes {
		if n.Server == nil {
			continue
		}
		if from == nil {
			giveUp(n.Server, e.From.ID)
		}
		if n.Server.Self().Follows == e.From.ID && n.Server != candidate {
			n.Server.View[self(n.Server)].Follows = candidate.ID
		}
	}
}

// giveUp lets a server see no slots at another.
func giveUp(s *topology.Server, id string) {
	for i, p := range s.View {
		if p.ID == id {
			s.View[i].Slots = ""
		}
	}
}

// gossip lets everyone see those whom it knows as they are.
func gossip(nodes topology.Nodes) {
	first := map[string]string{} // the smallest ID of each primary's shard
	primary := func(s *topology.Server) string {
		if f := s.Self().Follows; f != "" {
			return f
		}
		return s.ID
	}
	for _, n := range nodes {
		if n.Server != nil {
			p := primary(n.Server)
			if first[p] == "" || n.Server.ID < first[p] {
				first[p] = n.Server.ID
			}
		}
	}
	for _, by := range nodes {
		if by.Server == nil {
			continue
		}
		for i, p := range by.Server.View {
			if n, ours := nodes.ByID(p.ID); ours {
				by.Server.View[i].Claim = n.Server.Self().Claim
				by.Server.View[i].Shard = first[primary(n.Server)]
			}
		}
	}
}

// performOnClaims is what an effect should do to claims.
func performOnClaims(w *World, effect fsm.Effect) {
	change := func(uid string, change func(*Claim)) {
		for i := range w.Claims {
			if w.Claims[i].UID == uid {
				change(&w.Claims[i])
			}
		}
	}
	switch e := effect.(type) {
	case DeleteClaim:
		w.Claims = slices.DeleteFunc(w.Claims, func(c Claim) bool { return c.UID == e.UID })
	case KeepClaim:
		change(e.UID, func(c *Claim) { c.Released = false })
	case GrowClaim:
		change(e.UID, func(c *Claim) { c.Small = false })
	}
}
