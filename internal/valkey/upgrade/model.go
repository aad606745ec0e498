package upgrade

import (
	"slices"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// In the model a revision is called after its StatefulSet and the version that its pods run,
// and a template by the version alone.

// Perform is what an effect should do to the World.
func Perform(w World, effect fsm.Effect) World {
	w = clone(w)
	switch e := effect.(type) {
	case reserve.Take:
		if w.Cluster.UID == string(e.Target.UID) {
			w.Reservation = w.Reservation.After(e)
		}
	case DeletePod:
		for i, n := range w.Nodes {
			if n.Name == e.Name && n.UID == e.UID {
				w.Nodes[i] = topology.Node{Pod: topology.Pod{Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal}}
			}
		}
	case Failover:
		takeOver(w.Nodes, e)
	case CaptureVolume:
		w.Captures.begin(e.Name)
	}
	return w
}

// begin makes a capture.
func (c Captures) begin(name string) {
	for i := range c.Of {
		if of := &c.Of[i]; of.Name == name && of.State == NotCaptured {
			of.State = BeingCaptured
		}
	}
}

// takeOver lets a replica take over, and everyone know of it.
func takeOver(nodes topology.Nodes, e Failover) {
	candidate, foundCandidate := nodes.ByID(e.To.ID)
	from, foundFrom := nodes.ByID(e.From.ID)
	if !foundCandidate || !foundFrom || candidate.Server.Self().Follows != from.Server.ID {
		return
	}
	slots, epoch := from.Server.Self().Slots, highest(nodes)+1
	for _, n := range nodes {
		if n.Shard != candidate.Shard {
			continue
		}
		claim := topology.Claim{Follows: candidate.Server.ID, Shard: candidate.Server.Self().Shard}
		if n.Name == candidate.Name {
			claim.Follows, claim.Slots = "", slots
		}
		seenAs(nodes, idOf(n), func(p *topology.Peer) { p.Claim, p.Epoch = claim, epoch })
		if n.Server != nil {
			n.Server.History = "history of " + candidate.Name
		}
	}
}

func highest(nodes topology.Nodes) (epoch int64) {
	for _, n := range nodes {
		if n.Server != nil {
			epoch = max(epoch, n.Server.Self().Epoch)
		}
	}
	return epoch
}

// seenAs changes how everyone sees one server, that server included.
func seenAs(nodes topology.Nodes, id string, change func(*topology.Peer)) {
	for _, by := range nodes {
		if by.Server == nil {
			continue
		}
		for i := range by.Server.View {
			if by.Server.View[i].ID == id {
				change(&by.Server.View[i])
			}
		}
	}
}

// Settle is what others do meanwhile, one after the other: the cluster's controller applies
// templates, the StatefulSet controller sees them, pods come back, replicas catch up.
func Settle(u *valkeyv1.ValkeyUpgrade, w World) World {
	w = clone(w)
	for i, c := range w.Captures.Of {
		if c.State == BeingCaptured {
			w.Captures.Of[i].State = Captured
			return w
		}
	}
	for i := range w.Shards {
		if apply(u, &w, i) || observeTemplate(&w, i) {
			return w
		}
	}
	if comeBack(w) {
		return w
	}
	for _, n := range w.Nodes {
		if n.Server != nil {
			n.Server.Synced = true
		}
	}
	return w
}

// apply is what the cluster's controller does about the wish of a lane.
func apply(u *valkeyv1.ValkeyUpgrade, w *World, i int) bool {
	s := &w.Shards[i]
	asks := record(u, s.Index)
	phase := u.Status.Phase
	if w.Cluster.Paused || phase != InProgress && phase != RollingBack {
		return false
	}
	widened := widen(w, s, asks.WantReplicas)
	if asks.WantTemplate == "" || asks.WantTemplate == s.Template {
		return widened || narrow(w, s, asks.WantReplicas)
	}
	s.Template, s.Settled = asks.WantTemplate, false
	s.Upgrade = Mark{string(u.UID), u.CreationTimestamp.Time}
	return true
}

// observeTemplate is what the StatefulSet controller does about a template that was applied.
func observeTemplate(w *World, i int) bool {
	s := &w.Shards[i]
	if s.Settled {
		return false
	}
	s.Settled, s.Revision = true, s.Name+"-"+s.Template
	if revision, back := strings.CutPrefix(s.Template, valkeyv1.RevisionPrefix); back {
		s.Revision = revision
	}
	for j, n := range w.Nodes {
		if n.Shard == s.Index {
			w.Nodes[j].Outdated = n.UID != "" && n.Image != versionIn(*s)
		}
	}
	return true
}

func versionIn(s Shard) string { return strings.TrimPrefix(s.Revision, s.Name+"-") }

// comeBack is what the StatefulSet controller, the kubelet and the healing of the cluster's
// controller do about pods that are missing.
func comeBack(w World) (some bool) {
	for i, n := range w.Nodes {
		s, _ := w.shard(n.Shard)
		owner, owned := w.Nodes.Shard(n.Shard).Owner()
		if n.UID != "" || !owned {
			continue
		}
		some = true
		pod := topology.Pod{
			Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal, Addr: n.Name + ":6379", Ready: true, Version: "1",
			UID: "uid of " + n.Name + " on " + s.Revision, Image: versionIn(s),
		}
		server := *owner.Server
		server.ID, server.Version, server.Synced, server.View = idOf(n), pod.Image, false, slices.Clone(owner.Server.View)
		w.Nodes[i] = topology.Node{Pod: pod, Server: &server}
		introduce(w.Nodes, topology.Peer{ID: server.ID, Addr: pod.Addr, Linked: true})
		follows := topology.Claim{Follows: owner.Server.ID, Shard: owner.Server.Self().Shard}
		seenAs(w.Nodes, server.ID, func(p *topology.Peer) { p.Claim, p.Epoch = follows, owner.Server.Self().Epoch })
	}
	return some
}

// introduce makes a server known to all who do not know it.
func introduce(nodes topology.Nodes, p topology.Peer) {
	for _, by := range nodes {
		if by.Server == nil || by.Server.Knows(p.ID) {
			continue
		}
		by.Server.View = append(slices.Clone(by.Server.View), p)
		slices.SortFunc(by.Server.View, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	}
}

// idOf is what the server of a pod is called in the model: it is kept with its volume.
func idOf(n topology.Node) string { return "id of " + n.Name }

func clone(w World) World {
	w.Shards, w.Nodes, w.Captures.Of = slices.Clone(w.Shards), slices.Clone(w.Nodes), slices.Clone(w.Captures.Of)
	for i, n := range w.Nodes {
		if n.Server != nil {
			s := *n.Server
			s.View = slices.Clone(s.View)
			w.Nodes[i].Server = &s
		}
	}
	return w
}
