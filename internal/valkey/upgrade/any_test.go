package upgrade

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// anyUpgrade is an upgrade at some time of some scenario, in which something happened.
func anyUpgrade(r *rand.Rand, phase fsm.Phase) (*valkeyv1.ValkeyUpgrade, World) {
	all := stages()
	of := all[phase]
	if len(of) == 0 || r.IntN(10) == 0 {
		of = all[pick(r, slices.Sorted(maps.Keys(all))...)]
	}
	at := pick(r, of...)
	u, w := at.obj.DeepCopy(), clone(at.world)
	if phase == "" {
		u.Status = valkeyv1.ValkeyUpgradeStatus{}
	}
	wish(r, u, &w)
	if r.IntN(4) == 0 {
		u.Status.UnwellSince = &metav1.Time{Time: time.Unix(1_690_000_000, 0)}
	}
	if w.Reservation.State == reserve.Free || r.IntN(8) == 0 {
		w.Reservation = reserve.Fact{State: pick(r, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Free, reserve.Others, reserve.State(""))}
	}
	for range r.IntN(4) {
		mishap(r, &w)
	}
	for i := range u.Status.Shards {
		wander(r, &u.Status.Shards[i])
	}
	return u, w
}

// wish changes what is asked for.
func wish(r *rand.Rand, u *valkeyv1.ValkeyUpgrade, w *World) {
	switch r.IntN(12) {
	case 0:
		u.Spec.Strategy = valkeyv1.Supervised
	case 1:
		u.Spec.CaptureFirst = true
		w.Captures = pick(r, Captures{}, Captures{Impossible: "The cluster has no volumes."}, uncaptured(u, *w))
		for i := range w.Captures.Of {
			w.Captures.Of[i].State = pick(r, NotCaptured, BeingCaptured, Captured, Captured, CaptureEnded)
		}
	case 2:
		u.Spec.AllowDowngrade = true
	case 3:
		u.Spec.CanaryShards, u.Spec.SoakSeconds = 1, int32(r.IntN(600))
		for i := range u.Status.Shards { // the canary is done, and watched
			u.Status.Shards[i].Phase = pick(r, ShardPending, u.Status.Shards[i].Phase)
		}
		if len(u.Status.Shards) > 1 {
			u.Status.Shards[0].Phase = ShardCompleted
		}
	case 4:
		u.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	case 5:
		u.CreationTimestamp = metav1.Time{Time: created.Add(-time.Hour)}
	}
}

// wander lets a lane stand elsewhere than its shard does.
func wander(r *rand.Rand, s *valkeyv1.ShardUpgrade) {
	switch r.IntN(16) {
	case 0:
		s.Phase = pick(r, slices.Sorted(maps.Keys(shardRules.Phases))...)
	case 1:
		s.FailedFailovers = int32(r.IntN(4))
	case 2:
		s.Promoted, s.OldPrimary = pick(r, "web-0-1", "web-0-0", "web-1-1"), pick(r, "web-0-0", "web-1-0")
	case 3:
		s.NoWayBack = r.IntN(2) == 0
	case 4:
		s.WantTemplate = pick(r, "9.1.2", "revision:"+s.FromRevision)
	case 5:
		s.Replacing = pick(r, "", "web-0-1", "web-0-0", "web-1-1")
	}
	if s.Phase == UpgradingReplicas || s.Phase == WaitingForSync {
		s.OldPrimary = "" // who hands over is decided after that
	}
	if s.Phase != UpgradingReplicas && s.Phase != UpgradingOldMaster {
		s.Replacing = "" // nothing is replaced elsewhere
	}
}

// mishap changes one thing.
func mishap(r *rand.Rand, w *World) {
	if len(w.Nodes) == 0 || len(w.Shards) == 0 {
		return
	}
	n, s := &w.Nodes[r.IntN(len(w.Nodes))], &w.Shards[r.IntN(len(w.Shards))]
	switch r.IntN(20) {
	case 0:
		w.Cluster.Paused = true
	case 1:
		w.Cluster.Deleting = true
	case 2:
		w.Cluster.UID = "another"
	case 3:
		w.Cluster.Sight = pick(r, presence.Gone, "")
	case 4:
		w.Cluster.Phase = "Degraded"
	case 5:
		s.Upgrade = Mark{pick(r, "u1", "u0"), created.Add(time.Duration(r.IntN(3)-1) * time.Second)}
	case 6:
		s.Template, s.Settled = pick(r, "8.1.1", "9.1.2", "revision:"+s.Name+"-8.1.1"), r.IntN(2) == 0
	case 7:
		w.Template = pick(r, "", "9.2.0")
	case 8:
		w.Nodes = w.Nodes[1:]
	case 9, 10:
		n.Outdated = !n.Outdated
	case 11:
		pick(r, unpulled, crashing)(n)
	case 12:
		n.Ready, n.Server = false, nil
		n.Leaving = r.IntN(4) == 0
	case 13:
		*n = topology.Node{Pod: topology.Pod{Name: n.Name, Shard: n.Shard, Ordinal: n.Ordinal, Stray: r.IntN(2) == 0}}
	default:
		if n.Server != nil {
			quarrel(r, n.Server)
		}
	}
}

// quarrel changes what one server says.
func quarrel(r *rand.Rand, s *topology.Server) {
	p := &s.View[r.IntN(len(s.View))]
	switch r.IntN(10) {
	case 0:
		s.Synced = false
	case 1:
		s.OK = false
	case 2, 7, 8, 9:
		s.Version = pick(r, "8.0.1", "9.1.2", "7.2.0")
	case 3:
		p.State = pick(r, topology.Failed, topology.Suspected)
	case 4:
		p.Slots = pick[topology.Slots](r, "", "7", "0-16383")
	case 5:
		p.Follows = pick(r, "", "id of web-0-0", "id of web-1-1")
	case 6:
		p.Linked, p.Epoch = false, 99
	}
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }
