package upgrade

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Who takes over has the most of those that run what is wanted, not of all.
func TestTheCandidateRunsWhatIsWanted(t *testing.T) {
	u, _ := midway("8.1.1", WaitingForSync)
	w := running("8.1.1", 1, 2)
	w.Shards[0].Template, w.Nodes[0].Outdated, w.Nodes[2].Outdated = "9.1.2", true, true
	w.Nodes[0].Server.Offset, w.Nodes[2].Server.Offset = 200, 200
	lane := shard{Input: input{Obj: u, World: w, Now: present}, Lane: "0"}
	if candidate, doubt := failoverCandidate(lane, viewOf(lane)); candidate.Name != "web-0-1" || doubt != "" {
		t.Errorf("%s, %q", candidate.Name, doubt)
	}
}

// An approval fits the failover that was shown, and none before or after it.
func TestAnApprovalIsOfOneFailover(t *testing.T) {
	token := func(change func(*valkeyv1.ValkeyUpgrade, *World)) string {
		u, w := midway("8.1.1", WaitingForSync)
		change(u, &w)
		lane := shard{Input: input{Obj: u, World: w, Now: present}, Lane: "0"}
		return tokenOf(lane, viewOf(lane), w.Nodes[1])
	}
	shown := token(func(*valkeyv1.ValkeyUpgrade, *World) {})
	for name, change := range map[string]func(*valkeyv1.ValkeyUpgrade, *World){
		"another upgrade":            func(u *valkeyv1.ValkeyUpgrade, _ *World) { u.UID = "u2" },
		"another pod takes over":     func(_ *valkeyv1.ValkeyUpgrade, w *World) { w.Nodes[1].UID = "p2" },
		"a failover came in between": func(_ *valkeyv1.ValkeyUpgrade, w *World) { w.Nodes[0].Server.View[0].Epoch++ },
	} {
		if token(change) == shown {
			t.Errorf("%s: the same approval fits", name)
		}
	}
	if later := token(func(_ *valkeyv1.ValkeyUpgrade, w *World) { w.Nodes[1].Server.Offset++ }); later != shown {
		t.Error("every write takes the approval back")
	}
}

// Every server of a shard is asked whether it has all of it.
func TestWhoIsBehind(t *testing.T) {
	for name, c := range map[string]struct {
		change func(topology.Nodes)
		want   string
	}{
		"nobody":                       {func(topology.Nodes) {}, ""},
		"one that does not answer":     {func(n topology.Nodes) { n[1].Server = nil }, "web-0-1 does not answer"},
		"one without a link":           {func(n topology.Nodes) { n[1].Server.Synced = false }, "web-0-1 has no link to its primary"},
		"one that follows another":     {func(n topology.Nodes) { n[1].Server.View[1].Follows = "x" }, "web-0-1 does not follow the primary of its shard"},
		"one that does not serve":      {func(n topology.Nodes) { n[0].Server.OK = false }, "web-0-0 does not serve"},
		"all, as nobody owns anything": {func(n topology.Nodes) { n[0].Server.View[0].Slots = "" }, "web-0-0 is without a primary that owns slots"},
		"one that is far behind":       {func(n topology.Nodes) { n[1].Server.Offset = -lag }, "web-0-1 is far behind its primary"},
	} {
		nodes := running("8.1.1", 1, 1).Nodes
		c.change(nodes)
		n, doubt := nodeBehind(nodes)
		if got := strings.TrimSpace(n.Name + " " + doubt); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// stands is the phase of an upgrade after one look, and of its second shard.
func stands(t *testing.T, u *valkeyv1.ValkeyUpgrade, w World) (phase, second fsm.Phase) {
	t.Helper()
	s, err := Machine.Step(input{Obj: u, World: w, Now: present})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Obj.Status.Shards) > 1 {
		second = s.Obj.Status.Shards[1].Phase
	}
	return s.Obj.Status.Phase, second
}

// What is not whole before cannot be told from what the upgrade broke: nothing begins in it,
// neither an upgrade nor a shard, and nothing is called done.
func TestNothingBeginsOrEndsInABrokenCluster(t *testing.T) {
	for name, ail := range map[string]func(*World){
		"a pod is not ready":       func(w *World) { w.Nodes[3].Ready = false },
		"a replica is behind":      func(w *World) { w.Nodes[3].Server.Synced = false },
		"one does not agree":       func(w *World) { w.Nodes[3].Server.View[0].State = topology.Suspected },
		"a slot is without owner":  func(w *World) { everywhere(w, 2, func(p *topology.Peer) { p.Slots = "1-99" }) },
		"not everything was seen":  func(w *World) { w.Nodes = w.Nodes[:3] },
		"a server does not serve":  func(w *World) { w.Nodes[2].Server.OK = false },
		"a server does not answer": func(w *World) { w.Nodes[2].Server = nil },
	} {
		t.Run(name, func(t *testing.T) {
			u, w := midway("8.1.1", ShardPending)
			w.Shards[0] = running("8.1.1", 1, 1).Shards[0]
			w.Nodes[0].Outdated, w.Nodes[1].Outdated = false, false
			u.Status.Phase, u.Status.Shards = PreChecks, nil
			if phase, _ := stands(t, u, clone(w)); phase != InProgress {
				t.Fatalf("a whole cluster is left in %s", phase)
			}
			ail(&w)
			if phase, _ := stands(t, u, clone(w)); phase != PreChecks {
				t.Errorf("begun: %s", phase)
			}
			u.Status.Phase = InProgress
			u.Status.Shards = []valkeyv1.ShardUpgrade{
				{Index: 0, WantTemplate: "9.1.2", Place: place{Phase: ShardCompleted, Since: *ago(time.Minute)}},
				{Index: 1, Place: place{Phase: ShardPending, Since: *ago(time.Minute)}},
			}
			if _, second := stands(t, u, clone(w)); second != ShardPending {
				t.Errorf("the second shard is %s", second)
			}
			u.Status.Shards[1].Phase = ShardCompleted
			if phase, _ := stands(t, u, clone(w)); phase != InProgress {
				t.Errorf("ended: %s", phase)
			}
		})
	}
}

// everywhere changes how all servers see one.
func everywhere(w *World, of int, change func(*topology.Peer)) {
	for _, n := range w.Nodes {
		change(&n.Server.View[of])
	}
}

// Shards are upgraded from the first on and go back from the last, and it is not over while a
// pod is of the other version.
func TestShardsAreInTurn(t *testing.T) {
	u, w := midway("8.1.1", WaitingForSync)
	if _, second := stands(t, u, w); second != ShardPending {
		t.Errorf("the second begins before the first has ended: %s", second)
	}
	u.Status.Shards[0].Phase, u.Status.Shards[1].Phase = ShardCompleted, ShardCompleted
	if phase, _ := stands(t, u, w); phase != InProgress {
		t.Errorf("pods are outdated, and it is %s", phase)
	}
	u.Status.Phase, u.Status.Failure = RollingBack, &valkeyv1.UpgradeFailure{Reason: "PodNotReady", Message: "it"}
	u.Status.Shards[0].WantTemplate, u.Status.Shards[1].WantTemplate = "9.1.2", "9.1.2"
	for i := range u.Status.Shards {
		u.Status.Shards[i].Place = place{Phase: ShardPending, Since: metav1.Time{Time: present}}
	}
	s, err := Machine.Step(input{Obj: u, World: w, Now: present})
	if err != nil || s.Obj.Status.Shards[0].Phase != ShardPending || s.Obj.Status.Shards[1].Phase != UpgradingReplicas {
		t.Errorf("back: %s before %s, %v", s.Obj.Status.Shards[0].Phase, s.Obj.Status.Shards[1].Phase, err)
	}
}

// TestAClusterIsMadeBeforeItIsUpgraded: an upgrade that came first would keep it from being made.
func TestAClusterIsMadeBeforeItIsUpgraded(t *testing.T) {
	u, w := midway("8.1.1", ShardPending)
	w.Reservation.State, w.Cluster.Formed = reserve.Free, false
	if d := decidePending(input{Obj: u, World: w, Now: present}); len(d.Do) > 0 || d.On != "" {
		t.Errorf("%+v", d)
	}
	w.Cluster.Formed = true
	if d := decidePending(input{Obj: u, World: w, Now: present}); len(d.Do) != 1 {
		t.Errorf("%+v", d)
	}
}
