package upgrade

import (
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// broken is the bench with one phase of the shards decided otherwise.
func broken(b bench, phase fsm.Phase, decide func(shard) fsm.Decision) bench {
	m, lanes := *b.Machine, *b.Machine.Lanes
	lanes.Phases = maps.Clone(lanes.Phases)
	rule := lanes.Phases[phase]
	rule.Decide = decide
	lanes.Phases[phase] = rule
	m.Lanes, b.Machine = &lanes, &m
	return b
}

// throughout tries every fault of a path, also under the race detector: a planted one may
// show in a single place.
func throughout(b bench) bench {
	b.Large = false
	return b
}

// A pod is deleted as soon as it is outdated, whatever the others of its shard do.
func TestFaultHasty(t *testing.T) {
	t.Parallel()
	hasty := func(in shard) fsm.Decision {
		s := viewOf(in)
		n, old := s.outdatedReplica()
		own, _ := plan.ProveDeletePod(running("8.1.1", 3, 2).Nodes, n.Name, lag) // of another world
		if !s.isApplied() || !old || n.Leaving || in.World.Reservation.State != reserve.Ours || own == nil {
			return decideUpgradingReplicas(in)
		}
		return fsm.Do(ReasonReplacing, DeletePod{Name: n.Name, UID: n.UID, Revision: s.set.Revision, Proof: own}).Because("It is broken on purpose.")
	}
	fsmtest.Caught(t, broken(newBench(), UpgradingReplicas, hasty).ExploreIn(InProgress), "takes a")
}

func TestFaultWithoutProof(t *testing.T) {
	t.Parallel()
	unproven := func(in shard) fsm.Decision {
		d := decideUpgradingReplicas(in)
		if len(d.Do) == 1 {
			e := d.Do[0].(DeletePod)
			e.Proof = nil
			d.Do = []fsm.Effect{e}
		}
		return d
	}
	fsmtest.Caught(t, broken(newBench(), UpgradingReplicas, unproven).ExploreIn(InProgress), "deletes without a proof")
}

// Pods are deleted before the cluster's controller has applied the template.
func TestFaultBeforeTheTemplate(t *testing.T) {
	t.Parallel()
	early := func(in shard) fsm.Decision {
		s := viewOf(in)
		if n, old := s.outdatedReplica(); old && !s.isApplied() && s.whole {
			return s.remove(in, n)
		}
		return decideUpgradingReplicas(in)
	}
	fsmtest.Caught(t, broken(newBench(), UpgradingReplicas, early).ExploreIn(InProgress), "deletes before the template is there")
}

// The failover is asked for without a word in the status: a crash asks again at once.
func TestFaultFailoverBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	early := func(in shard) fsm.Decision {
		d := decideWaitingForSync(in)
		if d.On != ReplicasSynced {
			return d
		}
		s := viewOf(in)
		candidate, _ := failoverCandidate(in, s)
		return s.ask(in, candidate, "at once")
	}
	fsmtest.Caught(t, broken(newBench(), WaitingForSync, early).ExploreIn(InProgress), "fails over before that is saved")
}

// Whoever was asked is asked again until it takes over.
func TestFaultAsksTwice(t *testing.T) {
	t.Parallel()
	b := scenarios["servers that do not vote"].bench()
	again := func(in shard) fsm.Decision {
		s := viewOf(in)
		if to, found := s.named(s.Promoted); found && s.OldPrimary != "" && s.follows(to) {
			return s.ask(in, to, "again")
		}
		return decideFailingOver(in)
	}
	fsmtest.Caught(t, throughout(broken(b, FailingOver, again)).Crash(), "asks twice")
}

// Servers before 8.1 vote once in a while, and nobody waits for it.
func TestFaultTooSoon(t *testing.T) {
	t.Parallel()
	b := scenarios["servers that do not vote"].bench()
	b.World = func() World { return running("8.0.1", 2, 1) }
	hurried := func(in shard) fsm.Decision {
		d := decideWaitingForSync(in)
		if d.Reason == ReasonSpacing {
			return fsm.Fire(ReplicasSynced, ReasonInSync)
		}
		return d
	}
	fsmtest.Caught(t, throughout(broken(b, WaitingForSync, hurried)).Crash(), "fails over too soon")
}

func TestFaultNotApproved(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.Object = func() *valkeyv1.ValkeyUpgrade {
		u := newUpgrade()
		u.Spec.Strategy = valkeyv1.Supervised
		return u
	}
	b = broken(b, FailingOver, func(in shard) fsm.Decision {
		in.Obj = in.Obj.DeepCopy()
		in.Obj.Spec.Strategy = valkeyv1.Automatic
		return decideFailingOver(in)
	})
	b.Machine.Lanes.Holds = nil
	fsmtest.Caught(t, throughout(b).Crash(), "fails over without approval")
}

// All shards begin at once.
func TestFaultOutOfTurn(t *testing.T) {
	t.Parallel()
	b := broken(newBench(), ShardPending, func(shard) fsm.Decision { return fsm.Fire(ItsTurn, ReasonItsTurn) })
	fsmtest.Caught(t, b.ExploreIn(InProgress), "begins before shard")
	fsmtest.Caught(t, throughout(scenarios["the second shard fails"].outOfTurn()).Crash(), "before shard")
}

func (s scenario) outOfTurn() bench {
	return broken(s.bench(), ShardPending, func(in shard) fsm.Decision {
		if in.Obj.Status.Phase == RollingBack {
			return fsm.Fire(ItsTurn, ReasonRollingBack)
		}
		return decideShardPending(in)
	})
}

func TestFaultNoHolds(t *testing.T) {
	t.Parallel()
	b := newBench()
	m := *b.Machine
	m.Holds = nil
	b.Machine = &m
	fsmtest.Caught(t, b.ExploreIn(InProgress), "acts on a cluster that is paused or goes")
}

// An upgrade that has begun and forgot so, or that was passed by, is never begun again.
func TestNeverBegunAgain(t *testing.T) {
	for name, c := range map[string]struct {
		mark  Mark
		phase fsm.Phase
		want  string
	}{
		"its own mark":                        {Mark{"u1", created.Time}, "", "Failed/StatusLost"},
		"its own mark, and it is pending":     {Mark{"u1", created.Time}, Pending, "Failed/StatusLost"},
		"its own mark, and it is checking":    {Mark{"u1", created.Time}, PreChecks, "Failed/StatusLost"},
		"that of a newer one":                 {Mark{"u2", created.Add(time.Second)}, "", "Failed/StatusLost"},
		"that of a newer one, pending":        {Mark{"u2", created.Add(time.Second)}, Pending, "Failed/Superseded"},
		"that of one of the same moment":      {Mark{"u2", created.Time}, Pending, "Failed/Superseded"},
		"that of an older one":                {Mark{"u0", created.Add(-time.Second)}, "", "Pending/Created"},
		"that of an older one, pending":       {Mark{"u0", created.Add(-time.Second)}, Pending, "Pending/Reserving"},
		"no mark":                             {Mark{}, "", "Pending/Created"},
		"its own mark, and it is in progress": {Mark{"u1", created.Time}, InProgress, "InProgress"},
	} {
		t.Run(name, func(t *testing.T) {
			u, w := newUpgrade(), running("8.1.1", 2, 1)
			u.Status.Phase, w.Shards[1].Upgrade = c.phase, c.mark
			s, err := Machine.Step(input{Obj: u, World: w, Now: created.Time})
			got := string(s.Obj.Status.Phase) + "/" + string(s.Decision.Reason)
			if len(s.Hops) > 0 {
				got = string(s.Obj.Status.Phase) + "/" + string(s.Hops[0].Reason)
			}
			if err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

// What was deleted is deleted by its name alone.
func TestFaultByName(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.Perform = func(w World, e fsm.Effect) World {
		if d, is := e.(DeletePod); is {
			for _, n := range w.Nodes {
				if n.Name == d.Name {
					d.UID = n.UID
				}
			}
			e = d
		}
		return Perform(w, e)
	}
	fsmtest.Caught(t, throughout(b).Stale(), "stale")
}

// Only who came back by the upgrade can be a downgrade.
func TestDowngradeIsSeenInTime(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*valkeyv1.ValkeyUpgrade, *topology.Node)
		want   bool
	}{
		"it came back older": {func(_ *valkeyv1.ValkeyUpgrade, n *topology.Node) { n.Server.Version = "7.2.0" }, true},
		"that is allowed": {func(u *valkeyv1.ValkeyUpgrade, n *topology.Node) {
			n.Server.Version, u.Spec.AllowDowngrade = "7.2.0", true
		}, false},
		"it came back newer":      {func(_ *valkeyv1.ValkeyUpgrade, n *topology.Node) { n.Server.Version = "9.1.2" }, false},
		"it is not back":          {func(_ *valkeyv1.ValkeyUpgrade, n *topology.Node) { n.Server = nil }, false},
		"it was not replaced yet": {func(_ *valkeyv1.ValkeyUpgrade, n *topology.Node) { n.Server.Version, n.Outdated = "7.2.0", true }, false},
		"the upgrade is on its way back": {func(u *valkeyv1.ValkeyUpgrade, n *topology.Node) {
			n.Server.Version, u.Status.Phase = "7.2.0", RollingBack
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			u, w := newUpgrade(), running("8.1.1", 1, 1)
			w.Shards[0].Template = "9.1.2"
			w.Nodes[0].Outdated = true
			u.Status.Phase = InProgress
			u.Status.Shards = []valkeyv1.ShardUpgrade{{WantTemplate: "9.1.2", Place: place{Phase: UpgradingReplicas, Since: metav1.Time{Time: time.Unix(1, 0)}}}}
			c.change(u, &w.Nodes[1])
			if got := downgraded(shard{Input: input{Obj: u, World: w}, Lane: "0"}); got != c.want {
				t.Errorf("refused %t, want %t", got, c.want)
			}
		})
	}
}
