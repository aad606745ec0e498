package plan

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

func TestProveDeleteBroken(t *testing.T) {
	silent := func(change func(topology.Nodes)) func(topology.Nodes) {
		return func(n topology.Nodes) {
			n[1].Server = nil
			change(n)
		}
	}
	prove(t, Pod("web-0-1", id(1)), map[string]proofCase{
		"it does not answer, all others are well": {silent(func(topology.Nodes) {}), ""},
		"it answers":                       {func(topology.Nodes) {}, "answers"},
		"it does not exist":                {silent(func(n topology.Nodes) { n[1].UID = "" }), "does not exist"},
		"it owns slots in somebody's view": {silent(func(n topology.Nodes) { n[4].Server.View[1].Slots = "7" }), "sees slots at"},
		"its primary does not answer":      {silent(func(n topology.Nodes) { n[0].Server = nil }), "slots are served"},
		"another owns the slots and is silent": {silent(func(n topology.Nodes) {
			all(n, 0, func(p *topology.Peer) { p.Slots = "" })
		}), "slots are served"},
		"a replica of another shard is silent": {silent(func(n topology.Nodes) { n[3].Server = nil }), ""},
		"too few primaries answer":             {silent(func(n topology.Nodes) { n[2].Server, n[4].Server = nil, nil }), "no majority"},
	}, func(n topology.Nodes) (Proof, string) { return plainly(ProveDeleteBroken(n, "web-0-1", 100)) })
}

// Another copy that is behind is needed as long as it may be the only one besides.
func TestProveDeleteBrokenWhileAnotherIsBehind(t *testing.T) {
	n := sound()
	n[3].Shard, n[3].Name = 0, "web-0-2" // follows the primary of another shard
	n[1].Server = nil
	if proof, doubt := ProveDeleteBroken(n, "web-0-1", 100); proof != nil || doubt == "" {
		t.Errorf("proof %v, doubt %q", proof, doubt)
	}
}
