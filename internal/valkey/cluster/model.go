package cluster

import (
	"slices"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Perform is what an effect should do to the World.
func Perform(w World, effect fsm.Effect) World {
	w = clone(w)
	switch e := effect.(type) {
	case TakeReservation:
		if w.Reservation.State == Free {
			w.Reservation = Reservation{State: Ours}
		}
	case ReleaseReservation:
		if w.Reservation.State == Ours {
			w.Reservation = Reservation{State: Free}
		}
	case ApplyChild:
		for i, c := range w.Children {
			if c.Ref == e.Child && !c.Foreign && !c.Current {
				w.Children[i] = Child{Ref: c.Ref, UID: "uid of " + c.Name, Current: true, Settled: c.Kind != KindStatefulSet}
			}
		}
	case MarkFormed:
		w.Formed = true
	case Meet:
		for _, i := range e.Introductions {
			for _, to := range i.To {
				introduce(w.Nodes, i.Of, to)
			}
		}
	case AddSlots:
		if s := server(w.Nodes, e.At); s != nil && !s.Holds() {
			s.View[self(s)].Slots = e.Slots
		}
	case SetNodeTimeout:
		for _, m := range e.At {
			if s := server(w.Nodes, m); s != nil {
				s.Timeout = int(e.Timeout.Milliseconds())
				s.OK = served(w.Nodes)
			}
		}
	case Replicate:
		if s := server(w.Nodes, e.At); s != nil && !s.Holds() && s.Knows(e.Primary.ID) {
			s.View[self(s)].Claim = topology.Claim{Follows: e.Primary.ID, Shard: min(s.ID, e.Primary.ID)}
			s.Synced = false
			regroup(s, s.Self().Claim, s.ID)
		}
	}
	return w
}

// introduce makes a server known, or lets one that knows it see it as it is.
func introduce(nodes topology.Nodes, of, to Member) {
	s, by := server(nodes, of), server(nodes, to)
	if s == nil || by == nil {
		return
	}
	if !s.Knows(by.ID) {
		shake(s, to.Addr)
		return
	}
	if i := slices.IndexFunc(by.View, func(p topology.Peer) bool { return p.ID == s.ID }); i >= 0 {
		by.View[i].Claim = s.Self().Claim
		regroup(by, s.Self().Claim, s.ID)
	}
}

// regroup lets a primary see itself in one shard with a replica.
func regroup(by *topology.Server, claim topology.Claim, id string) {
	for i := range by.View {
		if by.View[i].ID == claim.Follows {
			by.View[i].Shard = min(by.View[i].Shard, claim.Shard, id)
		}
	}
}

func shake(s *topology.Server, addr string) {
	p := topology.Peer{ID: "handshake with " + addr, Addr: addr, State: topology.Handshake}
	if _, twice := s.Peer(p.ID); !twice {
		s.View = append(s.View, p)
		slices.SortFunc(s.View, byID)
	}
}

// Settle is what others do meanwhile, one after the other: the StatefulSet
// controller sees a StatefulSet, pods start, handshakes end, replicas catch up.
func Settle(c *valkeyv1.ValkeyCluster, w World) World {
	w = clone(w)
	if i := slices.IndexFunc(w.Children, func(c Child) bool { return c.UID != "" && !c.Settled }); i >= 0 {
		for ; i < len(w.Children); i++ {
			w.Children[i].Settled = w.Children[i].UID != ""
		}
		return w
	}
	if started := start(c, &w); started {
		return w
	}
	befriend(w.Nodes)
	for _, n := range w.Nodes {
		if n.Server != nil {
			n.Server.Synced = true
			n.Server.OK = n.Server.OK || served(w.Nodes) && n.Server.Self().Follows != ""
		}
	}
	return w
}

// start brings up the pods of every StatefulSet that exists.
func start(c *valkeyv1.ValkeyCluster, w *World) (started bool) {
	for i, n := range w.Nodes {
		owner := Ref{KindStatefulSet, n.Name[:strings.LastIndexByte(n.Name, '-')]}
		made, exists := w.child(func(c Child) bool { return c.Ref == owner && c.UID != "" && !c.Foreign })
		if exists && made.Settled && (n.Server == nil || !n.Ready) {
			w.Nodes[i] = newborn(n.Pod, c.Spec.Image)
			started = true
		}
	}
	return started
}

// newborn is a pod whose server has just started.
func newborn(pod topology.Pod, image string) topology.Node {
	pod.UID, pod.Addr, pod.Ready, pod.Image, pod.Trouble = "uid of "+pod.Name, pod.Name+":6379", true, image, ""
	id := "id of " + pod.Name
	return topology.Node{Pod: pod, Server: &topology.Server{
		ID: id, ShardID: "shard of " + pod.Name, Version: "8.1.1", Empty: true, Synced: true, Timeout: 5000,
		View: []topology.Peer{{ID: id, Addr: pod.Addr, Linked: true, Claim: topology.Claim{Shard: id}}},
	}}
}

// befriend ends all handshakes: whoever is connected by any chain of them knows
// everyone. Who knew each other before is told nothing new.
func befriend(nodes topology.Nodes) {
	for changed := shaking(nodes); changed; {
		changed = false
		for _, a := range nodes {
			for _, b := range nodes {
				if a.Server != nil && b.Server != nil && (shakesHands(a, b) || a.Server.Knows(b.Server.ID)) {
					changed = exchange(nodes, a, b) || changed
				}
			}
		}
	}
}

func shaking(nodes topology.Nodes) bool {
	return slices.ContainsFunc(nodes, func(n topology.Node) bool {
		return n.Server != nil && slices.ContainsFunc(n.Server.View, func(p topology.Peer) bool { return p.State == topology.Handshake })
	})
}

func exchange(nodes topology.Nodes, a, b topology.Node) (changed bool) {
	a.Server.View = slices.DeleteFunc(a.Server.View, func(p topology.Peer) bool {
		return p.State == topology.Handshake && p.Addr == b.Addr
	})
	for _, pair := range [][2]topology.Node{{a, b}, {b, a}} {
		for _, p := range append(slices.Clone(pair[1].Server.View), pair[1].Server.Self()) {
			if p.State != topology.Handshake && !pair[0].Server.Knows(p.ID) {
				if known, ours := nodes.ByID(p.ID); ours {
					p = known.Server.Self()
				}
				p.Linked = true
				pair[0].Server.View = append(pair[0].Server.View, p)
				slices.SortFunc(pair[0].Server.View, byID)
				changed = true
			}
		}
	}
	return changed
}

func served(nodes topology.Nodes) bool {
	count, _, _ := nodes.Assigned()
	return count == topology.TotalSlots
}

func server(nodes topology.Nodes, m Member) *topology.Server {
	if n, found := nodes.ByID(m.ID); found {
		return n.Server
	}
	return nil
}

func self(s *topology.Server) int {
	return slices.IndexFunc(s.View, func(p topology.Peer) bool { return p.ID == s.ID })
}

func byID(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) }

func clone(w World) World {
	w.Children, w.Nodes = slices.Clone(w.Children), slices.Clone(w.Nodes)
	for i, n := range w.Nodes {
		if n.Server != nil {
			s := *n.Server
			s.View = slices.Clone(s.View)
			w.Nodes[i].Server = &s
		}
	}
	return w
}
