package cluster

import (
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// command is what an effect does to the servers that it is sent to.
func command(nodes topology.Nodes, effect fsm.Effect) {
	switch e := effect.(type) {
	case Meet:
		meet(nodes, e)
	case AddSlots:
		if s := server(nodes, e.At); s != nil && !s.Holds() {
			s.View[self(s)].Slots = e.Slots
		}
	case SetNodeTimeout:
		setTimeout(nodes, e)
	case Reset:
		reset(nodes, e)
	case Forget:
		forget(nodes, e.At, e.IDs...)
	case ForgetSlotOwner:
		forget(nodes, e.At, e.ID)
	case Failover:
		takeOver(nodes, e)
	case RaiseEpoch:
		raiseEpoch(nodes, e)
	case Replicate:
		replicate(nodes, e)
	}
}

func setTimeout(nodes topology.Nodes, e SetNodeTimeout) {
	for _, m := range e.At {
		if s := server(nodes, m); s != nil {
			s.Timeout, s.OK = int(e.Timeout.Milliseconds()), anyServes(nodes)
		}
	}
}

func replicate(nodes topology.Nodes, e Replicate) {
	s := server(nodes, e.At)
	if s == nil || !s.Empty || s.Self().Slots != "" || s.Self().Follows == e.Primary.ID || !s.Knows(e.Primary.ID) {
		return
	}
	s.View[self(s)].Claim = topology.Claim{Follows: e.Primary.ID, Shard: min(s.ID, e.Primary.ID)}
	s.Synced = false
	if p := server(nodes, e.Primary); p != nil {
		s.ShardID, s.History = p.ShardID, p.History
	}
	regroup(s, s.Self().Claim, s.ID)
}

// raiseEpoch lets everybody hear of the new epoch, and believe who speaks in its name.
func raiseEpoch(nodes topology.Nodes, e RaiseEpoch) {
	s := server(nodes, e.At)
	if s == nil || s.Self().Follows != "" || s.Self().Epoch > e.Above {
		return
	}
	for _, by := range nodes {
		for i := range viewOf(by) {
			p := &by.Server.View[i]
			if m, ours := nodes.ByID(p.ID); ours && (p.ID == s.ID || m.Server.Self().Follows == s.ID) {
				p.Epoch, p.Claim = e.Above+1, m.Server.Self().Claim
			}
		}
	}
}

func viewOf(n topology.Node) []topology.Peer {
	if n.Server == nil {
		return nil
	}
	return n.Server.View
}

func reset(nodes topology.Nodes, e Reset) {
	s := server(nodes, e.At)
	if s == nil || s.Self().Slots != "" {
		return
	}
	s.View = []topology.Peer{{ID: s.ID, Addr: e.At.Addr, Linked: true, Claim: topology.Claim{Shard: s.ID}}}
	s.Empty, s.Synced, s.ShardID, s.History = true, true, "shard of "+e.At.Pod, "history of "+e.At.Pod
}

func forget(nodes topology.Nodes, at []Member, ids ...string) {
	for _, m := range at {
		if s := server(nodes, m); s != nil {
			s.View = slices.DeleteFunc(s.View, func(p topology.Peer) bool { return slices.Contains(ids, p.ID) })
		}
	}
}

func meet(nodes topology.Nodes, e Meet) {
	for _, i := range e.Introductions {
		for _, to := range i.To {
			introduce(nodes, i.Of, to)
		}
	}
}

// introduce makes a server known, or lets one that knows it see it as it is.
func introduce(nodes topology.Nodes, of, to Member) {
	s, by := server(nodes, of), server(nodes, to)
	if s == nil || by == nil {
		return
	}
	if !s.Knows(by.ID) {
		startHandshake(s, to.Addr)
		return
	}
	i := slices.IndexFunc(by.View, func(p topology.Peer) bool { return p.ID == s.ID })
	if i < 0 {
		startHandshake(by, of.Addr)
	} else {
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

func startHandshake(s *topology.Server, addr string) {
	p := topology.Peer{ID: "handshake with " + addr, Addr: addr, State: topology.Handshake}
	if _, twice := s.Peer(p.ID); !twice {
		s.View = append(s.View, p)
		slices.SortFunc(s.View, byID)
	}
}

// endHandshakes ends all handshakes: whoever is connected by any chain of them knows
// everyone. Who knew each other before is told nothing new.
func endHandshakes(nodes topology.Nodes) {
	for changed := anyHandshake(nodes); changed; {
		changed = false
		for _, a := range nodes {
			for _, b := range nodes {
				if a.Server != nil && b.Server != nil && (inHandshake(a, b) || a.Server.Knows(b.Server.ID) && b.Server.Knows(a.Server.ID)) {
					changed = exchange(nodes, a, b) || changed
				}
			}
		}
	}
}

func anyHandshake(nodes topology.Nodes) bool {
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

func anyServes(nodes topology.Nodes) bool {
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
