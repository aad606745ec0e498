package node

import (
	"fmt"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/guard"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Whether another has its slots by now, most of the voters say. So a primary asks all of them,
// whatever it has to load: in a large cluster a few are never most.
func TestAPrimaryAsksEveryVoter(t *testing.T) {
	for _, data := range []guard.Data{guard.Nothing, guard.Snapshot, guard.Log} {
		known := &nodesconf.File{Self: nodesconf.Node{ID: "self", Slots: "0"}}
		for i := 1; i < 40; i++ {
			known.Peers = append(known.Peers, nodesconf.Node{ID: fmt.Sprint(i), Addr: fmt.Sprintf("10.0.0.%d:6379", i), Slots: topology.Range(i, i)})
		}
		l := look{here: guard.Here{Known: known, Data: data}}
		if asked := len(l.known()); asked != len(known.Peers) {
			t.Errorf("with %s to load, %d of %d are asked", data, asked, len(known.Peers))
		}
		known.Self.Follows, known.Self.Slots = "1", ""
		if asked := len(l.known()); asked != few {
			t.Errorf("a replica asks %d", asked)
		}
	}
}
