package cluster

import (
	"fmt"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// New shards of a cluster that grows spread their primaries over machines, as those of a new cluster do.
func TestNewShardsHavePrimariesWhereThereAreFew(t *testing.T) {
	w := World{Shape: Even(4, 1)}
	hosts := []string{"a", "b", "b", "c", "c", "a", "a", "d"} // web-0-0, web-0-1, web-1-0, and so on
	for i, host := range hosts {
		id := fmt.Sprintf("id-%d", i)
		n := topology.Node{Pod: topology.Pod{Name: fmt.Sprintf("web-%d-%d", i/2, i%2), Shard: i / 2, Ordinal: i % 2, Host: host}}
		n.Server = &topology.Server{ID: id, Empty: true}
		for j := range hosts {
			n.Server.View = append(n.Server.View, topology.Peer{ID: fmt.Sprintf("id-%d", j)})
		}
		switch self := &n.Server.View[i]; {
		case i < 6 && i%2 == 0:
			self.Slots = topology.Share(i/2, 3)
		case i < 6:
			self.Follows = fmt.Sprintf("id-%d", i-1)
		}
		w.Nodes = append(w.Nodes, n)
	}
	if got := fmt.Sprint(attachEmpty(w, 4)); got != "[replicate web-3-0 from web-3-1]" {
		t.Error(got)
	}
	// One that has a replica stays what it is.
	w.Nodes[7].Server.View[7].Follows = "id-6"
	if got := fmt.Sprint(attachEmpty(w, 4)); got != "[]" {
		t.Error(got)
	}
}
