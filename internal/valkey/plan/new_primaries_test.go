package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// New shards get their primaries where machines have fewest of them, and those that there are stay.
func TestNewShardsSpreadTheirPrimaries(t *testing.T) {
	for name, tc := range map[string]struct {
		hosts []string // of those that may be the primary of each shard, by ordinal
		want  []string // the machines that they are on
	}{
		"one more, and its first is where there is one": {[]string{"a", "b", "c", "a d"}, []string{"a", "b", "c", "d"}},
		"each has one, so any is as good":               {[]string{"a", "b", "c", "b a c"}, []string{"a", "b", "c", "b"}},
		"one machine has two already":                   {[]string{"a", "a", "b", "a b c"}, []string{"a", "a", "b", "c"}},
		"two more, and the first makes room":            {[]string{"a", "b", "c d", "c"}, []string{"a", "b", "d", "c"}},
		"nobody knows where they are":                   {[]string{"?", "?", "? ?"}, []string{"?", "?", "?"}},
		"one of which none may be a primary":            {[]string{"a", "", "b a"}, []string{"a", "", "b"}},
	} {
		var candidates []topology.Nodes
		machine := map[string]string{"": ""}
		for i, list := range tc.hosts {
			var nodes topology.Nodes
			for j, host := range strings.Fields(list) {
				n := topology.Node{Pod: topology.Pod{Name: string(rune('0'+i)) + "-" + string(rune('0'+j)), Host: host}}
				machine[n.Name] = host
				nodes = append(nodes, n)
			}
			candidates = append(candidates, nodes)
		}
		var got []string
		for _, pod := range NewPrimaries(candidates) {
			got = append(got, machine[pod])
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, not %v", name, got, tc.want)
		}
	}
}
