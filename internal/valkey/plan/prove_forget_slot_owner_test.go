package plan

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// lostShard lets both servers of the second shard be others, with nothing; the replica that was
// is forgotten, and everybody has given up the owner.
func lostShard(n topology.Nodes) {
	forget(n, 3)
	for _, i := range []int{2, 3} {
		n[i].Server.ID = id(10 + i)
		reset(n, i)
	}
	for _, m := range n {
		for i, p := range m.Server.View {
			if p.ID == id(2) {
				m.Server.View[i].State = topology.Failed
			}
		}
	}
}

func TestProveForgetSlotOwner(t *testing.T) {
	also := func(change func(topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) { lostShard(n); change(n) }
	}
	seen := func(n topology.Nodes, by int, change func(*topology.Peer)) {
		for i := range n[by].Server.View {
			if n[by].Server.View[i].ID == id(2) {
				change(&n[by].Server.View[i])
			}
		}
	}
	prove(t, Server(id(2)), map[string]proofCase{
		"all is lost":             {lostShard, ""},
		"it has no address":       {also(func(n topology.Nodes) { seen(n, 0, func(p *topology.Peer) { p.State = topology.Unlocated }) }), ""},
		"nothing is lost":         {func(topology.Nodes) {}, "answers to it"},
		"one is silent":           {also(func(n topology.Nodes) { n[5].Server = nil }), "is silent"},
		"one only suspects it":    {also(func(n topology.Nodes) { seen(n, 4, func(p *topology.Peer) { p.State = topology.Suspected }) }), ""},
		"one has not given it up": {also(func(n topology.Nodes) { seen(n, 4, func(p *topology.Peer) { p.State = "" }) }), "has not given it up"},
		"one follows it":          {also(func(n topology.Nodes) { n[5].Server.View[len(n[5].Server.View)-1].Follows = id(2) }), "follow it"},
		"a slot is open with it":  {also(func(n topology.Nodes) { n[0].Server.Open = []topology.OpenSlot{{Slot: 7, Peer: id(2)}} }), "open with it"},
		"its shard has something": {also(func(n topology.Nodes) { n[3].Server.Empty = false }), "no shard without anything"},
		"most of the primaries are": {also(func(n topology.Nodes) {
			for _, i := range []int{0, 1} {
				n[i].Server.ID = id(10 + i)
				reset(n, i)
			}
		}), ""},
	}, func(n topology.Nodes) (Proof, string) {
		p, doubt := ProveForgetSlotOwner(n, id(2))
		if p == nil {
			return nil, doubt
		}
		return p, doubt
	})
}
