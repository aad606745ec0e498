package cluster

import (
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A shard that is lost while slots go to it or come from it, key by key, has a way out: it is told which command closes a slot
// so that whoever has keys of it keeps them, and then the shard begins anew.
func TestAShardLostDuringAMoveHasAWayOut(t *testing.T) {
	for name, tc := range map[string]struct {
		open    topology.OpenSlot
		command string
	}{
		"it was to get a slot":  {topology.OpenSlot{Slot: 7, Peer: "id of web-1-0"}, "`valkey-cli cluster setslot 7 stable`"},
		"it was to give a slot": {topology.OpenSlot{Slot: 6000, Peer: "id of web-1-0", Importing: true}, "`valkey-cli cluster setslot 6000 node id of web-0-0`"},
	} {
		for _, phase := range []fsm.Phase{Degraded, RebalancingSlots} {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			c.Status.Phase = phase
			shardIsLost(c, &w)
			w.Nodes[0].Server.Open = []topology.OpenSlot{tc.open}
			in := input{Obj: c, World: w, Now: present}
			d, _ := move(in, len(w.Shape))
			if phase == Degraded {
				d = decideDegraded(in)
			}
			if d.Reason != ReasonDataLost || !strings.Contains(d.Message, tc.command) || !strings.Contains(d.Message, "web-0-0") {
				t.Errorf("%s, in %s: %s %s", name, phase, d.Reason, d.Message)
			}
			if own := conditions(in, d); !apimeta.IsStatusConditionTrue(own, fsm.Stalled) {
				t.Errorf("%s, in %s: it is not called stalled: %v", name, phase, own)
			}
			w.Nodes[0].Server.Open = nil // the command was given
			if story := mend(c, w); len(story) == 0 || story[len(story)-1] != "replicate web-1-1 from web-1-0" {
				t.Errorf("%s, in %s: then %q", name, phase, story)
			}
		}
	}
}
