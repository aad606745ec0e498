package upgrade

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// widen is what the cluster's controller does where a replica is asked for that is not there.
func widen(w *World, s *Shard, replicas *int32) bool {
	if replicas == nil || int(*replicas) <= s.Replicas {
		return false
	}
	for s.Replicas < int(*replicas) {
		s.Replicas++
		pod := topology.Pod{Name: fmt.Sprintf("%s-%d", s.Name, s.Replicas), Shard: s.Index, Ordinal: s.Replicas}
		w.Nodes = append(w.Nodes, topology.Node{Pod: pod})
	}
	slices.SortFunc(w.Nodes, func(a, b topology.Node) int { return (a.Shard-b.Shard)*10 + a.Ordinal - b.Ordinal })
	s.Settled = false
	return true
}

// narrow is what it does where one is not wanted any more, and does not serve: all others
// forget its server, and then its pod goes.
func narrow(w *World, s *Shard, replicas *int32) bool {
	owner, owned := w.Nodes.Shard(s.Index).Owner()
	if replicas == nil || int(*replicas) >= s.Replicas || !owned || owner.Ordinal > int(*replicas) {
		return false
	}
	goes := func(n topology.Node) bool { return n.Shard == s.Index && n.Ordinal > int(*replicas) }
	known := false
	for _, gone := range w.Nodes {
		if goes(gone) {
			known = forgetServer(w.Nodes, idOf(gone)) || known
		}
	}
	if known {
		return true
	}
	w.Nodes = slices.DeleteFunc(w.Nodes, goes)
	s.Replicas, s.Settled = int(*replicas), false
	return true
}

// forgetServer lets all others forget a server.
func forgetServer(nodes topology.Nodes, id string) (some bool) {
	for _, by := range nodes {
		if by.Server == nil || by.Server.ID == id {
			continue
		}
		was := len(by.Server.View)
		by.Server.View = slices.DeleteFunc(by.Server.View, func(p topology.Peer) bool { return p.ID == id })
		some = some || len(by.Server.View) != was
	}
	return some
}
