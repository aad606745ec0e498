package plan

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

func TestProveRaiseEpoch(t *testing.T) {
	cases := map[string]proofCase{
		"all see it so": {func(topology.Nodes) {}, ""},
		"somebody takes its replica for a primary": {func(n topology.Nodes) {
			n[0].Server.View[1].Follows, n[0].Server.View[1].Epoch = "", 99
		}, ""},
		"a newborn has not heard of it":         {func(n topology.Nodes) { reset(n, 5) }, ""},
		"a replica of another shard is silent":  {func(n topology.Nodes) { n[5].Server = nil }, ""},
		"it does not answer":                    {func(n topology.Nodes) { n[0].Server = nil }, "does not answer"},
		"it is a replica by now":                {func(n topology.Nodes) { all(n, 0, func(p *topology.Peer) { p.Follows, p.Slots = id(1), "" }) }, "no primary"},
		"it owns nothing":                       {func(n topology.Nodes) { all(n, 0, func(p *topology.Peer) { p.Slots = "" }) }, ""},
		"it owns nothing by its own word":       {func(n topology.Nodes) { n[0].Server.View[0].Slots = "" }, "with other slots"},
		"it reaches no majority":                {func(n topology.Nodes) { n[0].Server.OK = false }, "does not serve"},
		"most of the others do not answer":      {func(n topology.Nodes) { n[2].Server, n[4].Server = nil, nil }, "no majority"},
		"its replica is silent":                 {func(n topology.Nodes) { n[1].Server = nil }, "may be under way"},
		"its pod goes, and hands over":          {func(n topology.Nodes) { n[0].Leaving = true }, "may be under way"},
		"another primary sees it without slots": {func(n topology.Nodes) { n[2].Server.View[0].Slots = "" }, "with other slots"},
		"its replica has some of its slots":     {func(n topology.Nodes) { n[3].Server.View[1].Slots, n[3].Server.View[0].Slots = "7", "8-5460" }, "with other slots"},
		"somebody suspects it":                  {func(n topology.Nodes) { n[4].Server.View[0].State = topology.Suspected }, "calls it suspected"},
		"a slot is on its way": {func(n topology.Nodes) {
			n[2].Server.Open = []topology.OpenSlot{{Slot: 7, Importing: true, Peer: id(0)}}
		}, "open"},
	}
	prove(t, Server(id(0)), cases, func(n topology.Nodes) (Proof, string) {
		p, doubt := ProveRaiseEpoch(n, id(0))
		if p == nil {
			return nil, doubt
		}
		return p, doubt
	})
}
