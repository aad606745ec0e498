package node

import (
	"cmp"
	"context"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// step is what a server that is about to stop should do next.
type step struct {
	done  bool           // nothing
	alone bool           // no replica answers
	to    *topology.Node // ask this one to take over
	// copyless says that what the server holds may be nowhere else.
	copyless bool
	words    string
}

// around is the server itself and those who decide with it: its replicas, or those of its
// primary, and all that vote.
func around(ctx context.Context, client wire.Reader, self *topology.Server) topology.Nodes {
	nodes := topology.Nodes{{Pod: topology.Pod{Name: "this server"}, Server: self}}
	var addrs []string
	shard := cmp.Or(self.Self().Follows, self.ID)
	for _, p := range self.View {
		if p.ID != self.ID && p.Addr != "" && (p.Follows == shard || p.Slots != "") {
			addrs = append(addrs, p.Addr)
		}
	}
	for addr, server := range askAll(ctx, client, addrs) {
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: addr, Addr: addr}, Server: server})
	}
	return nodes
}

// next decides whom to hand over to, as the operator would.
func next(self *topology.Server, view topology.Nodes) step {
	own := self.Self()
	switch {
	case own.Follows != "" && lastCopy(self, view):
		return step{done: true, copyless: true, words: "a replica whose primary does not answer, and no other server has a copy"}
	case own.Follows != "":
		return step{done: true, words: "a replica: nothing to hand over"}
	case own.Slots == "":
		return step{done: true, words: "no slots: nothing to hand over"}
	case !followed(self):
		return step{done: true, copyless: true, words: "no replica to hand over to"}
	}
	var replicas []*topology.Server
	for _, n := range view {
		if n.Server.Self().Follows == self.ID {
			replicas = append(replicas, n.Server)
		}
	}
	if len(replicas) == 0 {
		return step{alone: true, copyless: true, words: "no replica answers"}
	}
	best, found := topology.Best(replicas)
	if !found {
		return step{copyless: true, words: "no replica has a copy"}
	}
	if doubt, free := view.Handover(best.ID, lag); !free {
		return step{words: doubt}
	}
	candidate, _ := view.ByID(best.ID)
	return step{to: &candidate}
}

// lastCopy says that a replica has what its primary had, and that neither this nor another replica answers.
func lastCopy(self *topology.Server, view topology.Nodes) bool {
	primary := self.Self().Follows
	return self.Copies() && !slices.ContainsFunc(view[1:], func(n topology.Node) bool {
		return n.Server.ID == primary || n.Server.Self().Follows == primary && n.Server.Copies()
	})
}

func followed(s *topology.Server) bool {
	for _, p := range s.View {
		if p.Follows == s.ID {
			return true
		}
	}
	return false
}
