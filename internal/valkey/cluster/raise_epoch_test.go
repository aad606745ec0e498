package cluster

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// overrate lets one server of a version take the replica of the second shard for a primary of a high epoch.
func overrate(w *World, by int, version string) {
	for _, n := range w.Nodes {
		n.Server.Version = version
	}
	s := w.Nodes[by].Server
	for i := range s.View {
		if s.View[i].ID == "id of web-1-1" {
			s.View[i].Follows, s.View[i].Epoch = "", 19
		}
	}
}

// A replica that is taken for a primary is believed again once its primary has a higher epoch, which takes slots from
// whoever has them by right: so only where nobody can have.
func TestAReplicaIsBelievedAgain(t *testing.T) {
	const raise = "raise-epoch web-1-0 for web-1-1"
	nine := func(also func(*valkeyv1.ValkeyCluster, *World)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) { overrate(w, 2, "9.1.2"); also(c, w) }
	}
	cases := map[string]caution{
		"by its primary":             {nine(func(*valkeyv1.ValkeyCluster, *World) {}), raise, ""},
		"by another":                 {func(_ *valkeyv1.ValkeyCluster, w *World) { overrate(w, 5, "9.1.2") }, raise, ""},
		"an older server hears soon": {func(_ *valkeyv1.ValkeyCluster, w *World) { overrate(w, 2, "8.1.1") }, "", ""},
		"it may just not have heard": {nine(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.Since = *ago(raiseEpochAfter - time.Second) }), "", ""},
		"its primary is above":       {nine(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].Server.View[self(w.Nodes[2].Server)].Epoch = 19 }), "", ""},
		"it is not in sync yet":      {nine(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server.Synced = false }), "apply PodDisruptionBudget web as closed", ""},
		"slots are being moved":      {nine(func(_ *valkeyv1.ValkeyCluster, w *World) { w.Migration = Moving }), "", ""},
		"a slot is open": {nine(func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Nodes[0].Server.Open = []topology.OpenSlot{{Slot: 7, Peer: w.Nodes[2].Server.ID}}
		}), "take-reservation", ""},
		"a failover was asked for a moment ago": {nine(func(c *valkeyv1.ValkeyCluster, _ *World) {
			c.Status.LastFailover = ago(failoverWithin - time.Second)
		}), "", ""},
		"the cluster is paused": {nine(func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }), "", ""},
	}
	tryCautions(t, Degraded, cases)
	tryCautions(t, Running, cases)
}

// A new cluster waits for all to agree, and so does a shard before it is given slots.
func TestAReplicaIsBelievedAgainBeforeItsClusterRuns(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = ConfiguringReplicas, *ago(time.Minute), 1
	w.Formed, w.Reservation.State = false, reserve.Ours
	overrate(&w, 2, "9.1.2")
	in := input{Obj: c, World: w, Now: present}
	if d := decideConfiguringReplicas(in); len(d.Do) != 1 || d.Do[0].String() != "raise-epoch web-1-0 for web-1-1" {
		t.Errorf("%s: %v", d.Message, d.Do)
	}
	for _, n := range w.Nodes {
		for i := range n.Server.View {
			if n.Server.View[i].ID == "id of web-1-0" {
				n.Server.View[i].Slots = ""
			}
		}
	}
	if effects := raiseEpochs(in); len(effects) != 1 {
		t.Errorf("of a shard without slots: %v", effects)
	}
}

// Once is enough for all replicas of a primary, and then there is nothing left to do.
func TestAPrimaryIsRaisedOnce(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since = Degraded, *ago(time.Minute)
	overrate(&w, 2, "9.1.2")
	overrate(&w, 4, "9.1.2")
	in := input{Obj: c, World: w, Now: present}
	effects := raiseEpochs(in)
	if len(effects) != 1 {
		t.Fatalf("%v", effects)
	}
	command(w.Nodes, effects[0])
	if again := raiseEpochs(in); len(again) > 0 {
		t.Errorf("%v", again)
	}
	if doubt, agree := w.Nodes.Agree(); !agree {
		t.Error(doubt)
	}
}
