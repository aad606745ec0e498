package upgrade

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// report notes what a lane asks for, what was done and what was seen. It goes by what is,
// not by what was passed through: moves chain.
func report(out *valkeyv1.ValkeyUpgrade, in input, p fsm.Pass) {
	was := in.Obj
	s, w := &out.Status, in.World
	in.Obj = out
	if s.ClusterUID == "" && w.Cluster.Sight == presence.Here {
		s.ClusterUID = w.Cluster.UID
	}
	s.Approval, s.Proofs = "", proof.Record(s.Proofs, in.Now, p.Outcomes)
	if s.Phase == InProgress || s.Phase == RollingBack {
		for i := range s.Shards {
			reportShard(in, &s.Shards[i], record(was, int(s.Shards[i].Index)))
		}
		note(out, in, p.Outcomes)
		noteFailure(out, p.Hops)
	}
	noteUnhealthy(s, in)
	noteVersions(s, w)
	noteCaptures(s, w.Captures)
	if len(w.Shards) > 0 && len(s.Shards) > 0 {
		s.UpgradedShards = fmt.Sprintf("%d/%d", upgraded(s), len(w.Shards))
	}
}

// noteUnhealthy notes since when nothing is done because the cluster is not whole.
func noteUnhealthy(s *valkeyv1.ValkeyUpgradeStatus, in input) {
	switch {
	case !waitsForCluster(s, in.World):
		s.UnwellSince = nil
	case s.UnwellSince == nil:
		s.UnwellSince = stamp(in.Now)
	}
}

// waitsForCluster says that no shard is at work, and that the cluster is not whole. While
// it is paused nobody makes it so.
func waitsForCluster(s *valkeyv1.ValkeyUpgradeStatus, w World) bool {
	if s.Phase != InProgress || !w.looked() || w.Cluster.Paused || w.Reservation.State != reserve.Ours {
		return false
	}
	well := w.finished
	for _, shard := range s.Shards {
		switch {
		case slices.Contains(working, shard.Phase):
			return false
		case shard.Phase != ShardCompleted && shard.Phase != Skipped:
			well = w.healthyApartFromBroken
		}
	}
	_, is := well()
	return !is
}

// working are the phases in which a shard is being changed.
var working = []fsm.Phase{UpgradingReplicas, WaitingForSync, FailingOver, WaitingForClusterStable, UpgradingOldMaster, RemovingSurge}

// reportShard notes what becomes of one shard; was is how it stood before.
func reportShard(in input, s *valkeyv1.ShardUpgrade, was valkeyv1.ShardUpgrade) {
	if s.Phase != UpgradingReplicas && s.Phase != UpgradingOldMaster {
		s.Replacing = ""
	}
	if s.Phase == ShardHasFailed && in.Obj.Status.Phase == RollingBack && s.WantTemplate != "" && !isForward(s.WantTemplate) {
		s.NoWayBack = true
	}
	if slices.Contains(working, s.Phase) && in.World.looked() {
		noteWish(in, s)
		noteFailover(in, s, was)
	}
	noteSync(in, s)
}

// noteWish asks for the template that the shard is to have. The wish becomes durable together
// with the phase that waits for it.
func noteWish(in input, s *valkeyv1.ShardUpgrade) {
	set, seen := in.World.shard(int(s.Index))
	if !seen {
		return
	}
	if s.FromRevision == "" && s.WantTemplate == "" {
		s.FromRevision = set.Revision
	}
	noteSurge(s, set)
	want := wanted(in, *s, set)
	if isForward(want) != isForward(s.WantTemplate) { // the other way round: nothing of before counts
		s.Replacing, s.OldPrimary, s.Promoted, s.FailedFailovers = "", "", "", 0
	}
	if want != s.WantTemplate {
		s.WantTemplate, in.Obj.Status.Template = want, want
	}
}

// noteFailover notes who is to take over from whom, what waits for approval, and what came
// of it.
func noteFailover(in input, s *valkeyv1.ShardUpgrade, was valkeyv1.ShardUpgrade) {
	lane := laneOf(in, *s)
	if s.Phase == UpgradingReplicas || s.Phase == WaitingForSync {
		s.OldPrimary = "" // decided anew
	}
	switch {
	case s.Phase == FailingOver && was.Phase != FailingOver:
		sees := viewOf(lane)
		candidate, _ := failoverCandidate(lane, sees)
		s.Promoted, s.OldPrimary = candidate.Name, sees.owner.Name
	case s.Phase == WaitingForSync && was.Phase == FailingOver:
		countFailover(s, was, in.Now)
	case s.Phase == WaitingForSync && isSupervised(lane) && decideWaitingForSync(lane).On == ReplicasSynced:
		askApproval(lane, s)
	case s.Phase == WaitingForClusterStable:
		s.FailedFailovers = 0
		notePromoted(s, was, in.Now)
	}
}

// notePromoted notes a failover that has succeeded, if whoever asked for it could not.
func notePromoted(s *valkeyv1.ShardUpgrade, was valkeyv1.ShardUpgrade, now time.Time) {
	if asked := (shardView{ShardUpgrade: was}).wasAsked(); was.Phase == FailingOver && !asked {
		s.LastFailover = stamp(now)
	}
}

// countFailover counts a failover that came to nothing. Who may have asked and crashed is
// taken to have asked at the very end.
func countFailover(s *valkeyv1.ShardUpgrade, was valkeyv1.ShardUpgrade, now time.Time) {
	asked := shardView{ShardUpgrade: was}.wasAsked()
	if asked || was.Deadline != nil && !now.Before(was.Deadline.Time) {
		s.FailedFailovers++
	}
	if !asked && now.Sub(was.Since.Time) >= askWithin {
		s.LastFailover = stamp(now)
	}
}

// askApproval shows the token of the failover that waits for a person.
func askApproval(in shard, s *valkeyv1.ShardUpgrade) {
	sees := viewOf(in)
	candidate, _ := failoverCandidate(in, sees)
	s.Promoted = candidate.Name
	if token := tokenOf(in, sees, candidate); in.Obj.Annotations[valkeyv1.ApproveAnnotation] != token {
		in.Obj.Status.Approval = token
	}
}

// noteSync notes since when a server is waited for to copy its shard, and how long it took.
func noteSync(in input, s *valkeyv1.ShardUpgrade) {
	syncs := false
	if s.Phase == WaitingForSync || s.Phase == UpgradingOldMaster {
		nodes := in.World.Nodes.Shard(int(s.Index))
		_, silent := nodes.Silent()
		_, doubt := nodeBehind(nodes)
		syncs = !silent && doubt != ""
	}
	switch {
	case syncs && s.SyncStartedAt == nil:
		s.SyncStartedAt = stamp(in.Now)
	case !syncs && s.SyncStartedAt != nil:
		s.SyncElapsedSeconds = int32(in.Now.Sub(s.SyncStartedAt.Time) / time.Second) //nolint:gosec // days at most
		s.SyncStartedAt = nil
	}
}

// note remembers what was done. A failover that was not answered may have been begun, so it
// counts; one that was refused was not.
func note(out *valkeyv1.ValkeyUpgrade, in input, outcomes []fsm.Outcome) {
	of := func(pod string) *valkeyv1.ShardUpgrade {
		i := slices.IndexFunc(in.World.Nodes, func(n topology.Node) bool { return n.Name == pod })
		if i < 0 {
			return nil
		}
		at, found := position(out, in.World.Nodes[i].Shard)
		if !found {
			return nil
		}
		return &out.Status.Shards[at]
	}
	for _, o := range outcomes {
		switch e := o.Effect.(type) {
		case DeletePod:
			if s := of(e.Name); s != nil && o.Err == nil {
				s.Replacing = e.Name
			}
		case Failover:
			if s := of(e.To.Pod); s != nil && (o.Err == nil || fsm.ClassOf(o.Err) == fsm.Transient) {
				s.LastFailover = stamp(in.Now)
			}
		}
	}
}

func stamp(t time.Time) *metav1.Time { return &metav1.Time{Time: t.Truncate(time.Second)} }

// upgraded is how many shards run what is wanted.
func upgraded(s *valkeyv1.ValkeyUpgradeStatus) (n int) {
	for _, shard := range s.Shards {
		sentBack := s.Phase == RollingBack && shard.Phase == ShardPending && isForward(shard.WantTemplate)
		done := shard.Phase == Skipped || shard.Phase == ShardCompleted && isForward(shard.WantTemplate)
		if done || sentBack {
			n++
		}
	}
	return n
}
