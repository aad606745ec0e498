package cluster

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// present is when the worlds of this file are looked at.
var present = time.Unix(1_700_000_000, 0)

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: present.Add(-d)} }

// caution is what happens to a cluster of three shards with a replica each, what is done
// about it, and where the cluster stands then.
type caution struct {
	change func(*valkeyv1.ValkeyCluster, *World)
	do     string
	phase  fsm.Phase // "" is not asked
}

// tryCautions asks about clusters that have stood in a phase for a minute.
func tryCautions(t *testing.T, phase fsm.Phase, cases map[string]caution) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = phase, *ago(time.Minute), 1
			tc.change(c, &w)
			s, err := Machine.Step(input{Obj: c, World: w, Now: present})
			if err != nil {
				t.Fatal(err)
			}
			var done []string
			for _, e := range s.Decision.Do {
				done = append(done, e.String())
			}
			if got, at := strings.Join(done, ", "), s.Obj.Status.Phase; got != tc.do || tc.phase != "" && at != tc.phase {
				t.Errorf("does %q in %s, want %q in %s: %s", got, at, tc.do, tc.phase, s.Decision.Message)
			}
		})
	}
}

// gone lets everyone list a server that nobody answers for.
func gone(w *World) {
	for _, n := range w.Nodes {
		n.Server.View = append(n.Server.View, topology.Peer{ID: "zz gone", State: topology.Failed})
	}
}

// Who may come back is not forgotten.
func TestFailedNodesAreForgottenWithCare(t *testing.T) {
	const forget = "forget zz gone at 6 servers"
	volumes := func(c *valkeyv1.ValkeyCluster) { c.Spec.Persistence.Enabled = true }
	tryCautions(t, Degraded, map[string]caution{
		"all have given it up": {func(_ *valkeyv1.ValkeyCluster, w *World) { gone(w) }, forget, ""},
		"there are volumes":    {func(c *valkeyv1.ValkeyCluster, w *World) { gone(w); volumes(c) }, forget, ""},
		"a pod has ended, and keeps its name on its volume": {func(c *valkeyv1.ValkeyCluster, w *World) {
			gone(w)
			volumes(c)
			w.Nodes[1].Server, w.Nodes[1].Ended = nil, true
		}, "", ""},
		"a pod is silent, and may be the one":  {func(_ *valkeyv1.ValkeyCluster, w *World) { gone(w); w.Nodes[1].Server = nil }, "", ""},
		"one still hears of it":                {func(_ *valkeyv1.ValkeyCluster, w *World) { gone(w); w.Nodes[3].Server.View[6].State = "" }, "", ""},
		"one sees slots of it":                 {func(_ *valkeyv1.ValkeyCluster, w *World) { gone(w); w.Nodes[3].Server.View[6].Slots = "7" }, "", ""},
		"the cluster is being deleted":         {func(c *valkeyv1.ValkeyCluster, w *World) { gone(w); c.DeletionTimestamp = ago(0) }, "", ""},
		"not everything was looked at":         {func(_ *valkeyv1.ValkeyCluster, w *World) { gone(w); w.Nodes = w.Nodes[:5] }, "", ""},
		"it is a server that is met right now": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Server.View[0].State = topology.Handshake }, "", ""},
	})
}

// ended lets the container of a primary be over for so long.
func ended(w *World, d time.Duration) {
	n := &w.Nodes[2]
	n.Server, n.Ready, n.Ended, n.EndedAt = nil, false, true, present.Add(-d).Unix()
}

// refuses lets nobody listen at a primary, as all that had a connection to it have noticed.
func refuses(w *World) {
	n := &w.Nodes[2]
	n.Server, n.Refused = nil, true
	w.Nodes[3].Server.Synced = false
	for i := range w.Nodes {
		if s := w.Nodes[i].Server; s != nil {
			for j := range s.View {
				s.View[j].Linked = s.View[j].Linked && s.View[j].ID != "id of web-1-0"
			}
		}
	}
}

// A replica takes over at once where the primary cannot be there any more, and only there.
func TestAReplicaIsPromotedWithCare(t *testing.T) {
	const promote = "failover web-1-1 from id of web-1-0, which has ended"
	tryCautions(t, Running, map[string]caution{
		"its container has ended":          {func(_ *valkeyv1.ValkeyCluster, w *World) { ended(w, time.Second) }, promote, ""},
		"it is silent, and may well serve": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].Server = nil }, "", ""},
		"it keeps its data, and is on its way back": {func(c *valkeyv1.ValkeyCluster, w *World) {
			ended(w, time.Second)
			c.Spec.Persistence.Enabled = true
		}, "", ""},
		"it keeps its data, and is not back in time": {func(c *valkeyv1.ValkeyCluster, w *World) {
			ended(w, restartWithin)
			c.Spec.Persistence.Enabled = true
		}, promote, ""},
		"another failover was asked for a moment ago": {func(c *valkeyv1.ValkeyCluster, w *World) {
			ended(w, time.Second)
			c.Status.LastFailover = ago(failoverWithin - time.Second)
		}, "", ""},
		"another failover was asked for in another shard, and is over": {func(c *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			c.Status.LastFailover, c.Status.LastPromoted = ago(time.Second), "web-0-0"
		}, promote, ""},
		"another failover was asked for in another shard, and is not over": {func(c *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			c.Status.LastFailover, c.Status.LastPromoted = ago(time.Second), "web-0-1"
		}, "", ""},
		"another failover was asked for in the same shard": {func(c *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			c.Status.LastFailover, c.Status.LastPromoted = ago(time.Second), "web-1-1"
		}, "", ""},
		"another failover was asked for, and servers vote rarely": {func(c *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			c.Status.LastFailover, c.Status.LastPromoted = ago(time.Second), "web-0-0"
			for i := range w.Nodes {
				if s := w.Nodes[i].Server; s != nil {
					s.Version, s.Timeout = "8.0.1", 5000
				}
			}
		}, "", ""},
		"the replica was being sent all data": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			ended(w, time.Second)
			w.Nodes[3].Server.Syncing, w.Nodes[3].Server.Synced = true, false
		}, "", ""},
		"the cluster is paused": {func(c *valkeyv1.ValkeyCluster, w *World) { ended(w, time.Second); c.Spec.Paused = true }, "", ""},
		"nobody listens there":  {func(_ *valkeyv1.ValkeyCluster, w *World) { refuses(w) }, promote, ""},
		"nobody listens there, and somebody has a link": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			w.Nodes[3].Server.Synced = true
		}, "", ""},
		"nobody listens there, and the replica had no link for long": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			w.Nodes[3].Server.LinkDown = 30
		}, "", ""},
		"nobody listens there, and it keeps its data": {func(c *valkeyv1.ValkeyCluster, w *World) {
			refuses(w)
			c.Spec.Persistence.Enabled = true
		}, "", ""},
	})
}

// Where a server that refuses is not missed by all, something is amiss, and it is looked at again at once.
func TestAServerThatRefusesIsMissing(t *testing.T) {
	_, all := standingCluster(newCluster())
	w := clone(all[len(all)-1].world)
	refuses(&w)
	w.Nodes[3].Server.Synced = true
	c := newCluster()
	c.Status.Phase = Running
	s, err := Machine.Step(input{Obj: c, World: w, Now: present})
	if err != nil || s.Decision.Reason != ReasonNodesMissing || s.Decision.Message != "The cluster is degraded: web-1-0 refuses connections." {
		t.Errorf("%+v, %v", s.Decision, err)
	}
}

// Who is passed by because nobody listens there is asked once more in that way, and not by what its kubelet says.
func TestWhoIsPassedByIsSaid(t *testing.T) {
	_, all := standingCluster(newCluster())
	w := clone(all[len(all)-1].world)
	refuses(&w)
	c := newCluster()
	c.Status.Phase = Running
	s, err := Machine.Step(input{Obj: c, World: w, Now: present})
	if err != nil || len(s.Decision.Do) != 1 {
		t.Fatalf("%v, %v", s.Decision.Do, err)
	}
	if e, is := s.Decision.Do[0].(Failover); !is || len(e.Gone) > 0 || strings.Join(e.Refusing, " ") != "web-1-0" {
		t.Errorf("%+v", s.Decision.Do[0])
	}
}

// Of several shards without a primary one is helped at a time: votes are cast one after the
// other. Which pods must not run is said with it, so that it is asked once more.
func TestPromotionsComeOneAtATime(t *testing.T) {
	_, all := standingCluster(sized(newCluster(), Even(5, 1)))
	w := clone(all[len(all)-1].world)
	ended(&w, time.Second)
	w.Nodes[4].Server, w.Nodes[4].Ready, w.Nodes[4].Ended = nil, false, true
	c := sized(newCluster(), Even(5, 1))
	c.Status.Phase = Running
	s, err := Machine.Step(input{Obj: c, World: w, Now: present})
	if err != nil || len(s.Decision.Do) != 1 {
		t.Fatalf("%v, %v", s.Decision.Do, err)
	}
	e, is := s.Decision.Do[0].(Failover)
	if !is || strings.Join(e.Gone, " ") != "web-1-0" {
		t.Errorf("%+v", s.Decision.Do[0])
	}
	if next := Machine.Reduce(input{Obj: c, World: w, Now: present}, s, []fsm.Outcome{{Effect: e}}); next.Obj.Status.LastFailover == nil || next.Obj.Status.LastPromoted != "web-1-1" {
		t.Error("it is not remembered")
	}
}

// Another size is a wish of the spec: what is lost meanwhile neither hides it nor is one.
func TestScalingIsAWish(t *testing.T) {
	more := func(c *valkeyv1.ValkeyCluster, w *World) {
		c.Spec.ReplicasPerMaster = ptr.To(int32(2))
		w.Nodes[1].Ready = false
	}
	tryCautions(t, Degraded, map[string]caution{
		"replicas are added to one that is degraded": {more, "take-reservation", Degraded},
		"and then": {func(c *valkeyv1.ValkeyCluster, w *World) {
			more(c, w)
			w.Reservation.State = reserve.Ours
		}, "", ScalingUpStatefulSet},
		"a primary is lost, and nothing else is wanted": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Nodes[2].Server, w.Nodes[2].Ready = nil, false
		}, "", Degraded},
	})
	tryCautions(t, Running, map[string]caution{
		"fewer shards, while an upgrade follows the spec": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Masters = 2
			w.Upgrade, w.Reservation = &Upgrade{Name: "to-9"}, reserve.Fact{State: reserve.Others, Holder: "to-9"}
		}, "", Running},
	})
}

// A server that goes is handed over from first, lingers, and is then forgotten.
func TestRemovalIsInOrder(t *testing.T) {
	narrow := func(c *valkeyv1.ValkeyCluster, w *World) {
		c.Spec.ReplicasPerMaster, w.Reservation.State = ptr.To(int32(0)), reserve.Ours
	}
	primary := func(c *valkeyv1.ValkeyCluster, w *World) {
		narrow(c, w)
		takeOver(w.Nodes, Failover{At: memberOf(w.Nodes[3]), From: memberOf(w.Nodes[2])})
		gossip(w.Nodes)
	}
	tryCautions(t, RemovingNodesFromCluster, map[string]caution{
		"replicas":                      {narrow, "forget 3 at 3 servers", RemovingNodesFromCluster},
		"replicas, which served before": {func(c *valkeyv1.ValkeyCluster, w *World) { narrow(c, w); c.Status.Since = *ago(time.Second) }, "", RemovingNodesFromCluster},
		"a primary":                     {primary, "failover web-1-0 from web-1-1", RemovingNodesFromCluster},
		"a primary whose heir not all know": {func(c *valkeyv1.ValkeyCluster, w *World) {
			primary(c, w)
			w.Nodes[0].Server.View[2].State = topology.Suspected
		}, "", RemovingNodesFromCluster},
		"a primary, and another failover was asked for": {func(c *valkeyv1.ValkeyCluster, w *World) {
			primary(c, w)
			c.Status.LastFailover = ago(time.Second)
		}, "", RemovingNodesFromCluster},
		"a replica that somebody sees with slots": {func(c *valkeyv1.ValkeyCluster, w *World) {
			narrow(c, w)
			w.Nodes[0].Server.View[3].Slots = "7"
		}, "", RemovingNodesFromCluster},
	})
	tryCautions(t, ScalingDownStatefulSet, map[string]caution{
		"pods whose servers were met again": {narrow, "forget 3 at 3 servers", ScalingDownStatefulSet},
		"pods whose servers serve":          {primary, "", ScalingDownStatefulSet},
	})
}

// A pod does not go with keys that nobody else has, although everyone has forgotten its server.
func TestOnlyCopiesAreNotRemoved(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Spec.ReplicasPerMaster, c.Status.Phase, w.Reservation.State = ptr.To(int32(0)), ScalingDownStatefulSet, reserve.Ours
	for _, name := range []string{"web-0-1", "web-1-1", "web-2-1"} {
		forsaken(&w, name)
	}
	if d := decideScalingDownStatefulSet(input{Obj: c, World: w, Now: present}); len(d.Do) != 3 {
		t.Errorf("%+v", d)
	}
	last := w.Nodes[3].Server
	last.View[self(last)].Follows, last.Empty = "", false
	if d := decideScalingDownStatefulSet(input{Obj: c, World: w, Now: present}); len(d.Do) > 0 || d.Reason != ReasonHoldsData {
		t.Errorf("%+v", d)
	}
}

// Who goes may have the only copy: those that stay have all of their shard first.
func TestOnlyCopiesDoNotGo(t *testing.T) {
	for name, change := range map[string]func(stays *topology.Node){
		"all have a copy":          func(*topology.Node) {},
		"one that stays is silent": func(n *topology.Node) { n.Server = nil },
		"one is still copying":     func(n *topology.Node) { n.Server.Syncing = true },
		"one has no link":          func(n *topology.Node) { n.Server.Synced = false },
	} {
		_, all := standingCluster(sized(newCluster(), Even(3, 2)))
		w := clone(all[len(all)-1].world)
		w.Reservation.State = reserve.Ours
		change(&w.Nodes[1])
		c := sized(newCluster(), Even(3, 1))
		c.Status.Phase, c.Status.Since = RemovingNodesFromCluster, *ago(time.Minute)
		d := decideRemovingNodesFromCluster(input{Obj: c, World: w, Now: present})
		if sound := name == "all have a copy"; sound != (len(d.Do) == 1) || sound != (d.Reason != ReasonNoCopy) {
			t.Errorf("%s: %v, %s: %s", name, d.Do, d.Reason, d.Message)
		}
	}
}

// Slots leave a shard before it goes, and nothing is moved of which it is not known whose it is.
func TestEvacuationComesFirst(t *testing.T) {
	fewer := func(c *valkeyv1.ValkeyCluster, w *World) { c.Spec.Masters, w.Reservation.State = 2, reserve.Ours }
	tryCautions(t, EvacuatingSlots, map[string]caution{
		"a shard goes":      {fewer, "move-slots to 2 shards", EvacuatingSlots},
		"and is on its way": {func(c *valkeyv1.ValkeyCluster, w *World) { fewer(c, w); w.Migration = Moving }, "", EvacuatingSlots},
		"a slot has no one": {func(c *valkeyv1.ValkeyCluster, w *World) { fewer(c, w); w.Nodes[0].Server.View[0].Slots = "0-99" }, "", EvacuatingSlots},
		"a replica is off": {func(c *valkeyv1.ValkeyCluster, w *World) {
			fewer(c, w)
			closeBudget(w)
			w.Nodes[3].Server.Synced = false
		}, "", EvacuatingSlots},
		"a server is silent": {func(c *valkeyv1.ValkeyCluster, w *World) { fewer(c, w); w.Nodes[3].Server = nil }, "", EvacuatingSlots},
		"more are wanted, with fewer replicas": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Masters, c.Spec.ReplicasPerMaster, w.Reservation.State = 4, ptr.To(int32(0)), reserve.Ours
		}, "", ScalingUpStatefulSet},
		"it is wanted back": {func(c *valkeyv1.ValkeyCluster, w *World) {
			fewer(c, w)
			c.Spec.Masters = 3
		}, "", Running},
		"it is wanted back, with a slot half open": {func(c *valkeyv1.ValkeyCluster, w *World) {
			fewer(c, w)
			c.Spec.Masters = 3
			w.Nodes[0].Server.Open = []topology.OpenSlot{{Slot: 7, Peer: "id of web-1-0"}}
		}, "move-slots to 3 shards", EvacuatingSlots},
	})
}
