package nodesconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever is in the file, reading it must not panic, and a repair must change
// nothing but shards, leave nothing to repair, and make up no shard.
func FuzzRepair(f *testing.F) {
	f.Add(lineA + lineB + lineC + lineD + vars)
	f.Add(lineD + lineC)
	f.Add("")
	f.Add(strings.Replace(lineA, "myself,master -", "myself,slave "+idc, 1) + lineC)
	f.Add(lineA + strings.Replace(lineC, "master -", "slave "+idd, 1) + lineD)
	f.Fuzz(func(t *testing.T, text string) {
		before, err := Parse(text)
		repaired, changed := Repair(text)
		if err != nil {
			if repaired != text {
				t.Error("what cannot be read was changed")
			}
			return
		}
		after, err := Parse(repaired)
		if err != nil {
			t.Fatalf("a repair made it unloadable: %v", err)
		}
		if len(repaired) != len(text) && len(changed) == 0 {
			t.Error("changed without saying so")
		}
		if again, more := Repair(repaired); again != repaired || len(more) > 0 {
			t.Errorf("there is more to repair: %v", more)
		}
		known := map[string]bool{}
		for _, n := range append(before.Peers, before.Self) {
			known[n.Shard] = true
		}
		for _, n := range append(after.Peers, after.Self) {
			if !known[n.Shard] {
				t.Errorf("shard %q was made up", n.Shard)
			}
		}
		if diff := cmp.Diff(shardless(before), shardless(after)); diff != "" {
			t.Errorf("more than shards was changed (-before +after):\n%s", diff)
		}
	})
}

func shardless(f File) File {
	f.Self.Shard = ""
	peers := make([]Node, 0, len(f.Peers))
	for _, p := range f.Peers {
		p.Shard = ""
		peers = append(peers, p)
	}
	f.Peers = peers
	return f
}
