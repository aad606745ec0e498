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

// present is when the worlds of this file are looked at.
var present = time.Unix(1_700_000_000, 0)

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: present.Add(-d)} }

// midway is an upgrade whose first shard has stood in a phase for a minute: its template is
// applied, and both of its pods are of the former one.
func midway(version string, phase fsm.Phase) (*valkeyv1.ValkeyUpgrade, World) {
	u, w := newUpgrade(), running(version, 2, 1)
	w.Reservation.State, w.Shards[0].Template, w.Shards[0].Revision = reserve.Ours, "9.1.2", "web-0-9.1.2"
	w.Nodes[0].Outdated, w.Nodes[1].Outdated = true, true
	u.Status.Phase, u.Status.ClusterUID = InProgress, "c1"
	u.Status.Shards = []valkeyv1.ShardUpgrade{
		{Index: 0, WantTemplate: "9.1.2", FromRevision: "web-0-" + version, Place: place{Phase: phase, Since: *ago(time.Minute)}},
		{Index: 1, Place: place{Phase: ShardPending, Since: *ago(time.Minute)}},
	}
	return u, w
}

// A rollback of which nobody saw anything has not failed, however late it is.
func TestARollbackDoesNotFailUnseen(t *testing.T) {
	u, _ := midway("8.1.1", UpgradingReplicas)
	u.Status.Phase, u.Status.Since = RollingBack, *ago(time.Hour)
	u.Status.Failure = &valkeyv1.UpgradeFailure{Reason: "PodNotReady", Message: "it"}
	u.Status.Shards[0].WantTemplate, u.Status.Shards[0].Deadline = "8.1.1", ago(time.Minute)
	s, err := Machine.Step(input{Obj: u, Now: present})
	if err != nil || s.Moved() || len(s.Decision.Do) > 0 {
		t.Errorf("%v: moves by %v, does %v", err, s.Hops, s.Decision.Do)
	}
}

// caution is a world, what is done in it, and where the first shard stands then.
type caution struct {
	change func(*valkeyv1.ShardUpgrade, *World)
	do     string
	phase  fsm.Phase
}

func tryCautions(t *testing.T, version string, phase fsm.Phase, cases map[string]caution) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u, w := midway(version, phase)
			c.change(&u.Status.Shards[0], &w)
			s, err := Machine.Step(input{Obj: u, World: w, Now: present})
			if err != nil {
				t.Fatal(err)
			}
			var done []string
			for _, e := range s.Decision.Do {
				done = append(done, e.String())
			}
			if got, at := strings.Join(done, ", "), s.Obj.Status.Shards[0].Phase; got != c.do || c.phase != "" && at != c.phase {
				t.Errorf("does %q in %s, want %q in %s: %s", got, at, c.do, c.phase, s.Decision.Message)
			}
		})
	}
}

// A pod goes only with the proof that nothing goes with it, asked for in that very moment.
func TestAReplicaIsReplacedWithItsProofOnly(t *testing.T) {
	slotsOfReplica := func(w *World) { w.Nodes[2].Server.View[1].Slots = "7" }
	tryCautions(t, "8.1.1", UpgradingReplicas, map[string]caution{
		"all is well":                          {func(*valkeyv1.ShardUpgrade, *World) {}, "delete-pod web-0-1", UpgradingReplicas},
		"a voter sees slots of it":             {func(_ *valkeyv1.ShardUpgrade, w *World) { slotsOfReplica(w) }, "", UpgradingReplicas},
		"a pod of another shard is silent":     {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[3].Server = nil }, "", UpgradingReplicas},
		"the primary of its shard is silent":   {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[0].Server = nil }, "", UpgradingReplicas},
		"the reservation is not known":         {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Reservation.State = "" }, "", UpgradingReplicas},
		"it is behind: it is waited for":       {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[1].Server.Synced = false }, "", WaitingForSync},
		"it goes already":                      {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[1].Leaving = true }, "", UpgradingReplicas},
		"it is broken":                         {func(_ *valkeyv1.ShardUpgrade, w *World) { crashing(&w.Nodes[1]) }, "delete-pod web-0-1", UpgradingReplicas},
		"it is broken, and seen with slots":    {func(_ *valkeyv1.ShardUpgrade, w *World) { crashing(&w.Nodes[1]); slotsOfReplica(w) }, "", UpgradingReplicas},
		"it does not answer, and may well run": {func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[1].Server = nil }, "", UpgradingReplicas},
	})
}

// In a shard of three, nothing goes while another copy is missing or behind.
func TestNoSecondCopyGoes(t *testing.T) {
	for name, change := range map[string]func(*topology.Node){
		"missing": func(n *topology.Node) { n.Server = nil },
		"behind":  func(n *topology.Node) { n.Server.Offset = -lag },
	} {
		u, _ := midway("8.1.1", UpgradingReplicas)
		w := running("8.1.1", 1, 2)
		w.Reservation.State, w.Shards[0].Template, w.Shards[0].Revision = reserve.Ours, "9.1.2", "web-0-9.1.2"
		w.Nodes[0].Outdated, w.Nodes[1].Outdated = true, true
		u.Status.Shards = u.Status.Shards[:1]
		change(&w.Nodes[2])
		if s, err := Machine.Step(input{Obj: u, World: w, Now: present}); err != nil || len(s.Decision.Do) > 0 {
			t.Errorf("another is %s: %v, %v", name, s.Decision.Do, err)
		}
	}
}

// A replica is asked to take over with its proof only, and once.
func TestAFailoverIsAskedForWithItsProofOnly(t *testing.T) {
	decided := func(s *valkeyv1.ShardUpgrade, w *World) {
		w.Nodes[1].Outdated = false
		s.Promoted, s.OldPrimary, s.Since, s.Deadline = "web-0-1", "web-0-0", *ago(time.Second), ago(-time.Minute)
	}
	after := func(more func(*valkeyv1.ShardUpgrade, *World)) func(*valkeyv1.ShardUpgrade, *World) {
		return func(s *valkeyv1.ShardUpgrade, w *World) { decided(s, w); more(s, w) }
	}
	tryCautions(t, "8.1.1", FailingOver, map[string]caution{
		"all is well":                  {decided, "failover web-0-1 from web-0-0", FailingOver},
		"a voter suspects it":          {after(func(_ *valkeyv1.ShardUpgrade, w *World) { w.Nodes[2].Server.View[1].State = topology.Suspected }), "", FailingOver},
		"the reservation is not known": {after(func(_ *valkeyv1.ShardUpgrade, w *World) { w.Reservation.State = "" }), "", FailingOver},
		"it was asked":                 {after(func(s *valkeyv1.ShardUpgrade, _ *World) { s.LastFailover = ago(0) }), "", FailingOver},
		"one that crashed may have asked": {after(func(s *valkeyv1.ShardUpgrade, _ *World) {
			s.Since = *ago(askWithin)
		}), "", FailingOver},
		"it has taken over, and what was the primary has not heard": {after(func(_ *valkeyv1.ShardUpgrade, w *World) {
			w.Nodes[1].Server.View[1].Slots, w.Nodes[1].Server.View[1].Follows = w.Nodes[0].Server.View[0].Slots, ""
			w.Nodes[0].Server.View[0].Slots = ""
		}), "", FailingOver},
		"it has taken over": {after(func(_ *valkeyv1.ShardUpgrade, w *World) {
			takeOver(w.Nodes, Failover{To: memberOf(w.Nodes[1]), From: memberOf(w.Nodes[0])})
		}), "", WaitingForClusterStable},
	})
}

// What a process had decided that crashed is done by the next, when whatever that one may have
// begun is over. A replica that was asked is waited for ten seconds, whoever asked it.
func TestAFailoverOutlivesWhoDecidedIt(t *testing.T) {
	since := func(stay time.Duration, last *metav1.Time) func(*valkeyv1.ShardUpgrade, *World) {
		return func(s *valkeyv1.ShardUpgrade, w *World) {
			w.Nodes[1].Outdated = false
			s.Promoted, s.OldPrimary, s.Since, s.LastFailover = "web-0-1", "web-0-0", *ago(stay), last
			s.Deadline = ago(stay - askAgain(laneOf(input{World: *w}, *s)) - failoverTimeout)
		}
	}
	const asks = "failover web-0-1 from web-0-0"
	tryCautions(t, "8.1.1", FailingOver, map[string]caution{
		"it may be under way":               {since(13*time.Second, nil), "", FailingOver},
		"it would be over":                  {since(14*time.Second, nil), asks, FailingOver},
		"the one before was long ago":       {since(14*time.Second, ago(time.Hour)), asks, FailingOver},
		"it was asked a moment ago":         {since(16*time.Second, ago(9*time.Second)), "", FailingOver},
		"it was asked, and did not":         {since(16*time.Second, ago(10*time.Second)), "", WaitingForSync},
		"nobody was there to ask it":        {since(24*time.Second, nil), "", WaitingForSync},
		"it was asked at once, and did not": {since(10*time.Second, ago(10*time.Second)), "", WaitingForSync},
	})
	tryCautions(t, "8.0.1", FailingOver, map[string]caution{
		"8.0, the servers may not vote again": {since(23*time.Second, nil), "", FailingOver},
		"8.0, they do":                        {since(24*time.Second, nil), asks, FailingOver},
	})
}

// A try that came to nothing is counted; the next one waits as if a replica had been asked at
// its very end, unless it is known when that was.
func TestAFailoverThatCameToNothingIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		stay, left time.Duration
		last       *metav1.Time
		count      int32
		note       *metav1.Time
	}{
		"a replica was asked":                {10 * time.Second, time.Second, ago(10 * time.Second), 1, ago(10 * time.Second)},
		"none is known to have been asked":   {24 * time.Second, 0, nil, 1, ago(0)},
		"given up, and one may have been":    {10 * time.Second, time.Second, nil, 0, ago(0)},
		"given up before anybody was asked":  {time.Second, time.Second, nil, 0, nil},
		"one was asked in the try before it": {24 * time.Second, 0, ago(time.Hour), 1, ago(0)},
	} {
		t.Run(name, func(t *testing.T) {
			was := valkeyv1.ShardUpgrade{LastFailover: c.last, Place: place{Since: *ago(c.stay), Deadline: ago(-c.left)}}
			s := was
			countFailover(&s, was, present)
			if s.FailedFailovers != c.count || !s.LastFailover.Equal(c.note) {
				t.Errorf("%d failures, last at %v", s.FailedFailovers, s.LastFailover)
			}
		})
	}
}

// Whoever asked may not have been able to say so. The next failover of the shard is spaced all the same.
func TestAFailoverThatSucceededIsNoted(t *testing.T) {
	for name, c := range map[string]struct {
		was  fsm.Phase
		last *metav1.Time
		note *metav1.Time
	}{
		"it is known when it was asked for": {FailingOver, ago(2 * time.Second), ago(2 * time.Second)},
		"that is not known":                 {FailingOver, nil, ago(0)},
		"only of the one before":            {FailingOver, ago(time.Hour), ago(0)},
		"it was a while ago":                {WaitingForClusterStable, ago(time.Minute), ago(time.Minute)},
		"there was none":                    {WaitingForClusterStable, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			was := valkeyv1.ShardUpgrade{LastFailover: c.last, Place: place{Phase: c.was, Since: *ago(5 * time.Second)}}
			s := was
			s.Phase = WaitingForClusterStable
			if noteFailover(input{Now: present, Obj: &valkeyv1.ValkeyUpgrade{}}, &s, was); !s.LastFailover.Equal(c.note) {
				t.Errorf("last at %v, want %v", s.LastFailover, c.note)
			}
		})
	}
}

// Voters below 8.1 need time between two failovers, whoever asked for the first.
func TestSpacingOfFailovers(t *testing.T) {
	last := func(d time.Duration, failed int32) func(*valkeyv1.ShardUpgrade, *World) {
		return func(s *valkeyv1.ShardUpgrade, w *World) {
			w.Nodes[1].Outdated, s.LastFailover, s.FailedFailovers = false, ago(d), failed
		}
	}
	byTheCluster := func(d time.Duration) func(*valkeyv1.ShardUpgrade, *World) {
		return func(_ *valkeyv1.ShardUpgrade, w *World) {
			w.Nodes[1].Outdated, w.Cluster.LastFailover = false, ago(d).Time
		}
	}
	tryCautions(t, "8.0.1", WaitingForSync, map[string]caution{
		"8.0, too soon":                   {last(10*time.Second, 0), "", WaitingForSync},
		"8.0, after two timeouts":         {last(11*time.Second, 0), "", FailingOver},
		"8.0, too soon after a failure":   {last(19*time.Second, 1), "", WaitingForSync},
		"8.0, long after a failure":       {last(20*time.Second, 1), "", FailingOver},
		"8.0, the cluster asked just now": {byTheCluster(10 * time.Second), "", WaitingForSync},
	})
	tryCautions(t, "8.1.1", WaitingForSync, map[string]caution{
		"8.1, one is under way":           {last(9*time.Second, 0), "", WaitingForSync},
		"8.1, one was":                    {last(10*time.Second, 0), "", FailingOver},
		"8.1, the cluster asked just now": {byTheCluster(9 * time.Second), "", WaitingForSync},
		"8.1, it came to nothing thrice":  {last(time.Hour, 3), "", ShardHasFailed},
	})
}

// What was the primary goes on telling clients who is, before its pod goes.
func TestADemotedPrimaryLingers(t *testing.T) {
	demoted := func(d time.Duration) func(*valkeyv1.ShardUpgrade, *World) {
		return func(s *valkeyv1.ShardUpgrade, w *World) {
			w.Nodes[1].Outdated, s.Since, s.OldPrimary, s.Promoted = false, *ago(d), "web-0-0", "web-0-1"
			takeOver(w.Nodes, Failover{To: memberOf(w.Nodes[1]), From: memberOf(w.Nodes[0])})
		}
	}
	tryCautions(t, "8.1.1", WaitingForClusterStable, map[string]caution{
		"a second":    {demoted(time.Second), "", WaitingForClusterStable},
		"two seconds": {demoted(2 * time.Second), "", UpgradingOldMaster},
		"one does not agree": {func(s *valkeyv1.ShardUpgrade, w *World) {
			demoted(time.Minute)(s, w)
			w.Nodes[3].Server.View[0].Follows = ""
		}, "", WaitingForClusterStable},
	})
}
