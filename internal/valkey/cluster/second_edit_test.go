package cluster

import (
	"strings"
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// fiveShards is a cluster of five shards that are whole, of which only three are wanted.
func fiveShards(phase fsm.Phase) input {
	_, all := standingCluster(sized(newCluster(), Even(5, 1)))
	c := sized(newCluster(), Even(3, 1))
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = phase, *ago(time.Minute), 1
	w := clone(all[len(all)-1].world)
	w.Reservation.State = reserve.Ours
	return input{Obj: c, World: w, Now: present}
}

// TestAShardThatServesIsNotTakenApart: an edit lowers the number of shards again while the
// servers of others are about to be forgotten. Its slots are moved away first.
func TestAShardThatServesIsNotTakenApart(t *testing.T) {
	for _, phase := range shrinking[1:] {
		in := fiveShards(phase)
		if effects, _ := forgetLeavingNodes(in); len(effects) > 0 {
			t.Errorf("%s: %v", phase, effects)
		}
		s, err := Machine.Step(in)
		if err != nil || s.Obj.Status.Phase != EvacuatingSlots {
			t.Errorf("%s: %s, %v", phase, s.Obj.Status.Phase, err)
		}
	}
}

// TestAShardThatIsToStayAfterAllIsDealtSlots: it gave its slots away to go, and then an edit wants it back, but not all that were to go.
func TestAShardThatIsToStayAfterAllIsDealtSlots(t *testing.T) {
	for _, phase := range shrinking[1:] {
		in := evacuated(phase)
		in.Obj = sized(in.Obj, Even(4, 1))
		s, err := Machine.Step(in)
		if err != nil || s.Obj.Status.Phase != EvacuatingSlots {
			t.Errorf("%s: %s, %v", phase, s.Obj.Status.Phase, err)
		}
		if d := decideEvacuatingSlots(in); len(d.Do) != 1 || d.Do[0].String() != "move-slots to 4 shards" {
			t.Errorf("%+v", d)
		}
	}
}

// evacuated is a cluster of five shards of which the last two have given their slots away.
func evacuated(phase fsm.Phase) input {
	in := fiveShards(phase)
	for i := range 5 {
		owner, _ := in.World.Nodes.Shard(i).Owner()
		slots := &owner.Server.View[self(owner.Server)].Slots
		*slots = ""
		if i < 3 {
			*slots = topology.Share(i, 3)
		}
	}
	gossip(in.World.Nodes)
	return in
}

// TestAReplicaOfNothingIsNotWaitedFor: a shard gave its slots away, and then lost its primary. Its replica has nothing,
// and nobody to follow.
func TestAReplicaOfNothingIsNotWaitedFor(t *testing.T) {
	for _, back := range []bool{false, true} {
		in := evacuated(EvacuatingSlots)
		lost, replica := &in.World.Nodes[8], in.World.Nodes[9].Server
		replica.Synced = false
		lost.Server = nil
		if back {
			*lost = startedNode(lost.Pod, "valkey:8.1")
			lost.Server.ID, lost.Server.View[0].ID = "id of another", "id of another"
		}
		if d := decideEvacuatingSlots(in); back && d.On != SlotsMigrated {
			t.Errorf("%+v", d)
		}
		in.Obj.Status.Phase = RemovingNodesFromCluster
		effects, doubt := forgetLeavingNodes(in)
		if len(effects) == 0 {
			t.Errorf("back %v: %v: %s", back, effects, doubt)
		}
	}
}

// TestNewShardsAreIntroducedAlthoughFewerAreWanted: shards are added, and before they were introduced one fewer is wanted.
func TestNewShardsAreIntroducedAlthoughFewerAreWanted(t *testing.T) {
	_, all := standingCluster(newCluster())
	in := fiveShards(EvacuatingSlots)
	whole := clone(all[len(all)-1].world)
	for _, n := range in.World.Nodes[len(whole.Nodes):] {
		whole.Nodes = append(whole.Nodes, startedNode(n.Pod, "valkey:8.1"))
	}
	in.World.Nodes, in.Obj = whole.Nodes, sized(in.Obj, Even(4, 1))
	d := decideEvacuatingSlots(in)
	if len(d.Do) != 1 || !strings.HasPrefix(d.Do[0].String(), "meet") {
		t.Fatalf("%+v", d)
	}
	command(in.World.Nodes, d.Do[0])
	endHandshakes(in.World.Nodes)
	gossip(in.World.Nodes)
	if d := decideEvacuatingSlots(in); d.Reason == ReasonMeeting {
		t.Errorf("%+v", d)
	}
}

// TestWhoIsToGoIsHealedUntilItGoes: a shard that is to go serves until its slots are elsewhere,
// and that may take days if somebody has to approve it.
func TestWhoIsToGoIsHealedUntilItGoes(t *testing.T) {
	for _, phase := range []fsm.Phase{Running, Degraded, EvacuatingSlots} {
		in := fiveShards(phase)
		for i, n := range in.World.Nodes {
			if n.Name == "web-4-1" {
				in.World.Nodes[i] = startedNode(n.Pod, "valkey:8.1")
				in.World.Nodes[i].Server.ID, in.World.Nodes[i].Server.View[0].ID = "id of another", "id of another"
			}
		}
		if d, heals := heal(in); !heals || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), "meet") {
			t.Errorf("%s: a server in the place of a lost one is not introduced: %v", phase, d.Do)
		}
	}
}

// TestPodsThatNeverStartAreNotWaitedFor: shards that were asked for and cannot start are taken back.
func TestPodsThatNeverStartAreNotWaitedFor(t *testing.T) {
	_, all := standingCluster(newCluster())
	in := fiveShards(EvacuatingSlots)
	whole := clone(all[len(all)-1].world)
	for _, n := range in.World.Nodes[len(whole.Nodes):] {
		n.Server, n.NeverRan, n.Ready = nil, true, false
		whole.Nodes = append(whole.Nodes, n)
	}
	in.World.Nodes = whole.Nodes
	if d := decideEvacuatingSlots(in); d.On != SlotsMigrated {
		t.Errorf("%+v", d)
	}
	in.World.Nodes[1].Server = nil // one that stays
	if d := decideEvacuatingSlots(in); d.On != "" || len(d.Do) > 0 {
		t.Errorf("%+v", d)
	}
}

// TestTheLatestEndCounts: one that has been broken for an hour is not the primary that ended a moment ago.
func TestTheLatestEndCounts(t *testing.T) {
	in := fiveShards(Degraded)
	shard := topology.Nodes{
		{Pod: topology.Pod{Ended: true, EndedAt: present.Add(-time.Hour).Unix()}},
		{Pod: topology.Pod{Ended: true, EndedAt: present.Add(-10 * time.Second).Unix()}},
	}
	if is := endedFor(in, shard); is != 10*time.Second {
		t.Errorf("%s", is)
	}
	if is := endedFor(in, topology.Nodes{{}}); is != staleAfter*nodeTimeout(in) {
		t.Errorf("%s", is)
	}
}

// TestWhoHasNoAddressIsGivenUp: nobody looks for it, so nobody ever finds that it has failed.
func TestWhoHasNoAddressIsGivenUp(t *testing.T) {
	tryCautions(t, Degraded, map[string]caution{
		"one that nobody can find": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for i := range w.Nodes {
				w.Nodes[i].Server.View = append(w.Nodes[i].Server.View, topology.Peer{ID: "zz lost", State: topology.Unlocated})
			}
		}, "forget zz lost at 6 servers", ""},
	})
}

// TestWhoIsLostWhileTheClusterChangesIsBroughtBack: nothing else would, and slots may take hours to move.
func TestWhoIsLostWhileTheClusterChangesIsBroughtBack(t *testing.T) {
	for _, phase := range append([]fsm.Phase{Failed}, growing[1:]...) {
		in := fiveShards(phase)
		in.Obj = sized(in.Obj, Even(5, 1))
		in.World.Nodes[1] = startedNode(in.World.Nodes[1].Pod, "valkey:8.1")
		in.World.Nodes[1].Server.ID, in.World.Nodes[1].Server.View[0].ID = "id of another", "id of another"
		if d, heals := heal(in); !heals || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), "meet") {
			t.Errorf("%s: a server in the place of a lost one is not introduced: %v", phase, d.Do)
		}
	}
}

// TestWhoHandedOverLingers: clients hear from it where its slots are, also if it was the last of many.
func TestWhoHandedOverLingers(t *testing.T) {
	in := fiveShards(RemovingNodesFromCluster)
	in.Obj = sized(in.Obj, Even(5, 0))
	in.Obj.Status.LastFailover = ago(time.Second)
	if d := decideRemovingNodesFromCluster(in); len(d.Do) > 0 || d.After > linger {
		t.Errorf("%+v", d)
	}
	in.Obj.Status.LastFailover = ago(2 * linger)
	if d := decideRemovingNodesFromCluster(in); len(d.Do) == 0 {
		t.Errorf("%+v", d)
	}
}

// TestFewerShardsMustHoldWhatAllHold: what does not fit would be refused to clients of shards that stay.
func TestFewerShardsMustHoldWhatAllHold(t *testing.T) {
	for what, c := range map[string]struct {
		used, limit int64
		policy      valkeyv1.ConfigValue
		waits       bool
	}{
		"there is room":           {50, 100, "", false},
		"there is not":            {70, 100, "", true},
		"there is no limit":       {70, 0, "", false},
		"servers evict":           {70, 100, "allkeys-lru", false},
		"servers do not, by name": {70, 100, "noeviction", true},
	} {
		in := fiveShards(EvacuatingSlots)
		if c.policy != "" {
			in.Obj.Spec.Config = map[string]valkeyv1.ConfigValue{"maxmemory-policy": c.policy}
		}
		for i := range in.World.Nodes {
			in.World.Nodes[i].Server.Memory, in.World.Nodes[i].Server.MemoryLimit = c.used<<20, c.limit<<20
		}
		d := decideEvacuatingSlots(in)
		if waits := d.Reason == ReasonTooLittleMemory; waits != c.waits || waits == (len(d.Do) > 0) {
			t.Errorf("%s: %s %v", what, d.Reason, d.Do)
		}
		in.World.Nodes[0].Server.Open = []topology.OpenSlot{{Slot: 1}}
		if d := decideEvacuatingSlots(in); len(d.Do) == 0 {
			t.Errorf("%s: a slot that is half way stays there: %s", what, d.Reason)
		}
	}
}
