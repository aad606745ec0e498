package cluster

import (
	"slices"
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// shardIsLost lets both servers of the second shard come back as others, with nothing, where
// the user wants to go on without.
func shardIsLost(c *valkeyv1.ValkeyCluster, w *World) {
	c.Spec.OnTotalLoss = valkeyv1.RecreateOnTotalLoss
	for _, i := range []int{2, 3} {
		w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
		s := w.Nodes[i].Server
		s.ID = "new id of " + w.Nodes[i].Name
		s.View[0].ID, s.View[0].Shard = s.ID, s.ID
	}
	for _, i := range []int{0, 1, 4, 5} {
		for j, p := range w.Nodes[i].Server.View {
			if p.ID == "id of web-1-0" || p.ID == "id of web-1-1" {
				w.Nodes[i].Server.View[j].State = topology.Failed
			}
		}
	}
}

// without is the same in the next step: the replica, and then the owner, were forgotten.
func without(ids ...string) func(*valkeyv1.ValkeyCluster, *World) {
	return func(c *valkeyv1.ValkeyCluster, w *World) {
		shardIsLost(c, w)
		for _, n := range w.Nodes {
			n.Server.View = slices.DeleteFunc(n.Server.View, func(p topology.Peer) bool { return slices.Contains(ids, p.ID) })
		}
	}
}

// A shard that is lost begins anew if the user said so, and as long as nobody may have what
// was in it.
func TestALostShardIsReplaced(t *testing.T) {
	const forgetOwner = "forget-slot-owner id of web-1-0 at 4 servers"
	forgotten := without("id of web-1-1")
	also := func(change func(*valkeyv1.ValkeyCluster, *World)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) { forgotten(c, w); change(c, w) }
	}
	tryCautions(t, Degraded, map[string]caution{
		"its replica is forgotten first": {shardIsLost, "forget id of web-1-1 at 4 servers", Degraded},
		"then its owner":                 {forgotten, forgetOwner, Degraded},
		"the user does not want that": {also(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.OnTotalLoss = valkeyv1.FailOnTotalLoss }),
			"", Degraded},
		"the cluster is paused": {also(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }), "", Degraded},
		"one is silent":         {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[5].Server = nil }), "", Degraded},
		"one of it is silent, and has ended": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server, w.Nodes[3].Ended = nil, true }),
			"", Degraded},
		"one of it has keys": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server.Empty = false }), "", Degraded},
		"one still hears of the owner": {also(func(_ *valkeyv1.ValkeyCluster, w *World) {
			view := w.Nodes[4].Server.View
			view[slices.IndexFunc(view, func(p topology.Peer) bool { return p.ID == "id of web-1-0" })].State = ""
		}), "", Degraded},
		"slots are being moved": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Migration = Moving }), "", Degraded},
		"a slot is half way": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[0].Server.Open = []topology.OpenSlot{{Slot: 1}} }),
			"", Degraded},
		"then its servers are introduced": {without("id of web-1-1", "id of web-1-0"), "meet 7 pairs", Degraded},
	})
}

// mend heals until nothing is left to do, and says what was done.
func mend(c *valkeyv1.ValkeyCluster, w World) (story []string) {
	for range 20 {
		d, heals := heal(input{Obj: c, World: w, Now: present})
		if !heals {
			break
		}
		for _, e := range d.Do {
			story = append(story, e.String())
			command(w.Nodes, e)
		}
		endHandshakes(w.Nodes)
		gossip(w.Nodes)
	}
	return story
}

// Step by step, until all is well again; the slots are those that it had.
func TestALostShardServesAgain(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = Degraded, *ago(1), 1
	shardIsLost(c, &w)
	story := mend(c, w)
	want := []string{"forget id of web-1-1 at 4 servers", "forget-slot-owner id of web-1-0 at 4 servers", "meet 7 pairs",
		"add-slots web-1-0 5462-10922", "replicate web-1-1 from web-1-0"}
	if count, _, contested := w.Nodes.Assigned(); !slices.Equal(story, want) || count != topology.TotalSlots || contested {
		t.Errorf("%d slots after %q", count, story)
	}
}

// bereaving lets the owner of the second shard wait, without its data, for a replica that was replaced.
func bereaving(c *valkeyv1.ValkeyCluster, w *World) {
	shardIsLost(c, w)
	w.Nodes[2].Server, w.Nodes[2].Ended, w.Nodes[2].DataMissing = nil, true, true
}

// Who waits for a replica that has nothing waits in vain, and begins anew: where the data was in
// memory, and nobody else may have it.
func TestALostShardDoesNotWaitForItself(t *testing.T) {
	also := func(change func(*valkeyv1.ValkeyCluster, *World)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) { bereaving(c, w); change(c, w) }
	}
	tryCautions(t, Degraded, map[string]caution{
		"its replica was replaced": {bereaving, "delete-pod web-1-0", Degraded},
		"the user does not want that": {also(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.OnTotalLoss = valkeyv1.FailOnTotalLoss }),
			"", Degraded},
		"it is not known to have lost anything": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].DataMissing = false }), "", Degraded},
		"it is about to go":                     {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].Leaving = true }), "", Degraded},
		"there are volumes":                     {also(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Persistence.Enabled = true }), "", Degraded},
		"its replica has keys":                  {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server.Empty = false }), "", Degraded},
		"it is of a shard that has something": {also(func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Nodes[0].Server, w.Nodes[0].Ended, w.Nodes[0].DataMissing = nil, true, true
		}), "delete-pod web-1-0", Degraded},
		"its replica is silent": {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server = nil }), "", Degraded},
		"another is silent":     {also(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[0].Server = nil }), "", Degraded},
	})
	c, w := newCluster(), clone(made()[len(made())-1].world)
	bereaving(c, &w)
	if words, lost := shardLost(input{Obj: c, World: w, Now: present}); !lost || !strings.Contains(words, "Shard 1 came back empty") {
		t.Errorf("lost: %t, %s", lost, words)
	}
}

// A replica that had joined and never copied holds nothing, and follows nobody for ever.
func TestALostShardHasNoCandidateWithoutACopy(t *testing.T) {
	joined := func(change func(*topology.Server)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) {
			without("id of web-1-1")(c, w)
			s := w.Nodes[3].Server
			s.View[0].Follows, s.LinkDown, s.Synced = "id of web-1-0", -1, false
			change(s)
		}
	}
	tryCautions(t, Degraded, map[string]caution{
		"it never copied":    {joined(func(*topology.Server) {}), "reset web-1-1", Degraded},
		"it had a copy once": {joined(func(s *topology.Server) { s.LinkDown = 7 }), "failover web-1-1 from id of web-1-0, which has ended", Degraded},
		"it is copying":      {joined(func(s *topology.Server) { s.Syncing = true }), "", Degraded},
		"its primary is heard of": {func(c *valkeyv1.ValkeyCluster, w *World) {
			joined(func(*topology.Server) {})(c, w)
			view := w.Nodes[4].Server.View
			view[slices.IndexFunc(view, func(p topology.Peer) bool { return p.ID == "id of web-1-0" })].State = ""
		}, "", Degraded},
		"it has keys":               {joined(func(s *topology.Server) { s.Empty = false }), "", Degraded},
		"it follows one that lives": {joined(func(s *topology.Server) { s.View[0].Follows = "id of web-0-0" }), "", Degraded},
		"the user does not want that": {func(c *valkeyv1.ValkeyCluster, w *World) {
			joined(func(*topology.Server) {})(c, w)
			c.Spec.OnTotalLoss = valkeyv1.FailOnTotalLoss
		}, "", Degraded},
	})
}

// Where most of the primaries are lost, those that are left can only suspect it.
func TestALostMajorityServesAgain(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = Degraded, *ago(1), 1
	shardIsLost(c, &w)
	for _, i := range []int{0, 1} {
		w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
		s := w.Nodes[i].Server
		s.ID = "new id of " + w.Nodes[i].Name
		s.View[0].ID, s.View[0].Shard = s.ID, s.ID
	}
	for _, i := range []int{4, 5} {
		for j, p := range w.Nodes[i].Server.View {
			if p.Shard != w.Nodes[4].Server.View[4].Shard {
				w.Nodes[i].Server.View[j].State = topology.Suspected
			}
		}
	}
	if d := decideDegraded(input{Obj: c, World: w, Now: present}); d.Reason != ReasonDataLost {
		t.Errorf("%s: %s", d.Reason, d.Message)
	}
	mend(c, w)
	if count, _, contested := w.Nodes.Assigned(); count != topology.TotalSlots || contested {
		t.Errorf("%d slots", count)
	}
}

// What is left of a primary that is gone is told before what is not.
func TestALostShardIsNotAllThereIsToTell(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase = Degraded
	shardIsLost(c, &w)
	n := startedNode(w.Nodes[0].Pod, "valkey:8.1") // its replica has everything
	n.Server.ID, n.Server.View[0].ID = "new id of web-0-0", "new id of web-0-0"
	w.Nodes[0] = n
	if d := decideDegraded(input{Obj: c, World: w, Now: present}); d.Reason != ReasonMajorityLost || !strings.Contains(d.Message, "web-0-1") {
		t.Errorf("%s: %s", d.Reason, d.Message)
	}
}

// Where nobody serves any more, those that were just introduced begin anew with the others.
func TestALostShardAmongLostOnes(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Spec.OnTotalLoss = Degraded, valkeyv1.RecreateOnTotalLoss
	for i := range w.Nodes {
		w.Nodes[i] = startedNode(w.Nodes[i].Pod, "valkey:8.1")
	}
	a, b := w.Nodes[0].Server, w.Nodes[1].Server
	a.View, b.View = append(a.View, b.View[0]), append(b.View, a.View[0])
	mend(c, w)
	if !w.dataLost() {
		t.Error("it is not known to have lost everything")
	}
}

// What an upgrade asks for is done whatever is lost: it may be on its way back.
func TestALostShardKeepsNoUpgradeWaiting(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	shardIsLost(c, &w)
	c.Status.Phase, c.Spec.OnTotalLoss = Degraded, valkeyv1.FailOnTotalLoss
	w.Upgrade, w.Reservation = &Upgrade{Name: "up", Asks: []Ask{{Shard: 0, Template: "other"}}}, reserve.Fact{State: reserve.Others, Holder: "up"}
	if d := decideDegraded(input{Obj: c, World: w, Now: present}); d.Reason != ReasonUpgrading || len(d.Do) == 0 {
		t.Errorf("%s: %s, %v", d.Reason, d.Message, d.Do)
	}
}

// What is told of it.
func TestALostShardIsTold(t *testing.T) {
	for on, words := range map[valkeyv1.OnTotalLoss]string{
		valkeyv1.RecreateOnTotalLoss: "Shard 1 came back empty; spec.onTotalLoss asks for an empty one, which the manager forms.",
		valkeyv1.FailOnTotalLoss:     "Shard 1 came back empty; restore its data, or set spec.onTotalLoss to Recreate to continue without it.",
	} {
		c, w := newCluster(), clone(made()[len(made())-1].world)
		c.Status.Phase = Degraded
		shardIsLost(c, &w)
		c.Spec.OnTotalLoss = on
		if d := decideDegraded(input{Obj: c, World: w, Now: present}); d.Reason != ReasonDataLost || d.Message != words {
			t.Errorf("%s: %s %s", on, d.Reason, d.Message)
		}
		w.Nodes[3].Server = nil
		if words, lost := shardLost(input{Obj: c, World: w, Now: present}); lost {
			t.Errorf("while one is silent: %s", words)
		}
	}
	// Shards that were just added hold nothing either, and are not lost.
	in := evacuated(RebalancingSlots)
	in.Obj = sized(in.Obj, Even(5, 1))
	replace(&in.World.Nodes[8])
	replace(&in.World.Nodes[9])
	if lost := lostShards(in); lost != nil {
		t.Errorf("lost: %v", lost)
	}
}

// Of several that were lost each gets a part, whatever slots they are.
func TestLostSlotsAreShared(t *testing.T) {
	const slots = topology.Slots("1-4 7 9-10")
	for n, want := range map[int][]topology.Slots{1: {slots}, 2: {"1-3", "4 7 9-10"}, 3: {"1-2", "3-4", "7 9-10"}} {
		for k := range n {
			if got := nthPart(slots, k, n); got != want[k] {
				t.Errorf("%d of %d: %s", k, n, got)
			}
		}
	}
}
