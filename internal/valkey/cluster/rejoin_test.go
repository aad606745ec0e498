package cluster

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// forsaken lets those of the first shards forget a node, which still knows them.
func forsaken(w *World, name string) (n *topology.Node) {
	for i := range w.Nodes {
		if w.Nodes[i].Name == name {
			n = &w.Nodes[i]
		}
	}
	for _, by := range w.Nodes {
		if by.Name != name {
			forget(w.Nodes, []Member{memberOf(by)}, n.Server.ID)
		}
	}
	return n
}

// A server was forgotten because it was to go, and then an edit wanted it back.
func TestWhoIsWantedAgainIsKnownAgain(t *testing.T) {
	cases := map[string]caution{
		"a replica": {func(_ *valkeyv1.ValkeyCluster, w *World) { forsaken(w, "web-1-1") }, "meet", ""},
		"one that is not wanted": {func(c *valkeyv1.ValkeyCluster, w *World) {
			forsaken(w, "web-1-1")
			c.Spec.ReplicasPerMaster = new(int32)
		}, "", ""},
		"one that is not wanted, while another has the cluster": {func(c *valkeyv1.ValkeyCluster, w *World) {
			forsaken(w, "web-1-1")
			c.Spec.ReplicasPerMaster = new(int32)
			w.Reservation = reserve.Fact{State: reserve.Others, Holder: "another"}
		}, "meet", ""},
		"one that is not wanted, while shards are added": {func(c *valkeyv1.ValkeyCluster, w *World) {
			forsaken(w, "web-1-1")
			c.Spec.ReplicasPerMaster, c.Spec.Masters = new(int32), 4
		}, "meet", ""},
		"one that an upgrade asks to go": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			forsaken(w, "web-1-1")
			w.Upgrade = &Upgrade{Name: "up", Asks: []Ask{{Shard: 1, Replicas: new(int)}}}
		}, "", ""},
		"one with keys of its own": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			n := forsaken(w, "web-1-1")
			n.Server.View[self(n.Server)].Follows, n.Server.Empty = "", false
		}, "", ""},
		"one that knows others": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			n := forsaken(w, "web-1-1")
			n.Server.View = append(n.Server.View, topology.Peer{ID: "zz of another cluster", State: topology.Suspected})
		}, "", ""},
		"one that knows who is gone": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			n := forsaken(w, "web-1-1")
			n.Server.View = append(n.Server.View, topology.Peer{ID: "zz gone", State: topology.Failed})
		}, "meet", ""},
	}
	for _, phase := range []fsm.Phase{Running, Degraded} {
		for name, c := range cases {
			o, w := newCluster(), clone(made()[len(made())-1].world)
			o.Status.Phase, o.Status.Since, o.Status.ObservedGeneration = phase, *ago(time.Minute), 1
			c.change(o, &w)
			effects := rejoinNodes(input{Obj: o, World: w, Now: present})
			if (len(effects) > 0) != (c.do != "") {
				t.Errorf("%s: %s: %v", phase, name, effects)
			}
		}
	}
}

// A whole shard that was forgotten is no riddle to those that it is wanted back by.
func TestAShardThatIsWantedAgainIsAdded(t *testing.T) {
	in := fiveShards(AddingNodesToCluster)
	in.Obj = sized(in.Obj, Even(5, 1))
	whole := topology.Range(0, topology.TotalSlots-1)
	for _, n := range in.World.Nodes {
		s := &n.Server.View[self(n.Server)]
		if s.Follows == "" {
			s.Slots = ""
		}
		if n.Name == "web-0-0" {
			s.Slots = whole
		}
	}
	gossip(in.World.Nodes)
	for _, id := range []string{"id of web-4-0", "id of web-4-1"} {
		for _, by := range in.World.Nodes {
			if by.Shard != 4 {
				forget(in.World.Nodes, []Member{memberOf(by)}, id)
			}
		}
	}
	d, heals := heal(in)
	if !heals || len(d.Do) != 1 {
		t.Fatalf("%+v", d)
	}
	command(in.World.Nodes, d.Do[0])
	if d := decideAddingNodesToCluster(in); d.Reason != ReasonMeeting {
		t.Errorf("while they shake hands: %s: %s", d.Reason, d.Message)
	}
	endHandshakes(in.World.Nodes)
	gossip(in.World.Nodes)
	if d := decideAddingNodesToCluster(in); d.On != NodesAdded {
		t.Errorf("%+v", d)
	}
}
