package cluster

import (
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A person is told that nobody can be elected, and what to do, only if it is so.
func TestMajorityLost(t *testing.T) {
	const takeover = "kubectl exec -n shop web-0-1 -c valkey -- valkey-cli cluster failover takeover"
	silence := func(w World, pods ...int) World {
		for _, i := range pods {
			w.Nodes[i].Server = nil
		}
		return w
	}
	stood := clone(made()[len(made())-1].world) // two nodes a shard, the primary first
	blank := func(w World, pods ...int) World {
		for _, i := range pods {
			id := "new " + w.Nodes[i].Name
			w.Nodes[i].Server = &topology.Server{ID: id, Empty: true, View: []topology.Peer{{ID: id}}}
		}
		return w
	}
	for name, tc := range map[string]struct {
		world World
		lost  bool
		words string
	}{
		"all answer":                                     {clone(stood), false, ""},
		"one primary is silent":                          {silence(clone(stood), 0), false, ""},
		"two are, and one of their replicas is":          {silence(clone(stood), 0, 2, 3), true, takeover},
		"all are replaced by new ones, but one":          {blank(clone(stood), 0, 2, 3, 4, 5), true, takeover},
		"the first primary is the only one that answers": {silence(clone(stood), 2, 4), true, "kubectl exec -n shop web-1-1"},
		"no replica is left":                             {silence(clone(stood), 0, 1, 2, 3), true, "bring back the pods"},
		"nobody answers, so nobody knows of any":         {silence(clone(stood), 0, 1, 2, 3, 4, 5), false, ""},
		"two replicas are silent, and no primary":        {silence(clone(stood), 1, 3), false, ""},
		"everyone was replaced: that is data lost":       {blank(clone(stood), 0, 1, 2, 3, 4, 5), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			words, lost := majorityLost(input{Obj: newCluster(), World: tc.world})
			if lost != tc.lost || !strings.Contains(words, tc.words) {
				t.Errorf("lost %t: %s", lost, words)
			}
		})
	}
}
