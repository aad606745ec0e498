package upgrade

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// decideShardPending begins a shard when all before it have ended and the cluster is whole.
func decideShardPending(in shard) fsm.Decision {
	if other, waits := blockingShard(in); waits {
		return fsm.Wait(ReasonNotItsTurn, "lanes").Because("Waiting for shard %d to end before shard %s begins.", other, in.Lane)
	}
	if !in.World.looked() {
		return waitForLook("valkey").In(glance)
	}
	s := viewOf(in)
	if !s.set.Settled || s.set.Revision == "" {
		return fsm.Wait(ReasonTemplateNotApplied, "children").In(glance).Because("Shard %s: waiting for the StatefulSet controller to see StatefulSet %s.", in.Lane, s.set.Name)
	}
	if in.Obj.Status.Phase != InProgress {
		return fsm.Fire(ItsTurn, ReasonRollingBack)
	}
	if _, old := outdatedPod(s.nodes); !old && s.set.Template == in.World.Template {
		return fsm.Fire(AlreadyCurrent, ReasonAllCurrent)
	}
	if d, soaks := soak(in); soaks {
		return d
	}
	if doubt, fit := in.World.healthyApartFromBroken(); !fit {
		return waitForCluster(in, doubt)
	}
	return fsm.Fire(ItsTurn, ReasonItsTurn)
}

// waitForCluster waits for the cluster to be whole. What is not for as long as a pod may take is no
// accident any more: it may be what the shards before it were given.
func waitForCluster(in shard, doubt string) fsm.Decision {
	if waitedForCluster(in.Input) > podTimeout(in)+syncTimeout(in) {
		return fsm.Fire(ClusterUnhealthy, ReasonUnhealthy).Because("The cluster did not become healthy before shard %s began: %s.", in.Lane, doubt)
	}
	return fsm.Wait(ReasonUnhealthy, "pods", "valkey").In(glance).Because("Waiting for the cluster to be healthy before shard %s begins: %s.", in.Lane, doubt)
}

// waitedForCluster is how long the cluster was waited for.
func waitedForCluster(in input) time.Duration {
	if since := in.Obj.Status.UnwellSince; since != nil {
		return in.Now.Sub(since.Time)
	}
	return 0
}

// blockingShard is a shard that must have ended first.
func blockingShard(in shard) (other int32, waits bool) {
	index := int32(indexOf(in.Lane)) //nolint:gosec // at most 250
	for _, s := range in.Obj.Status.Shards {
		ended := s.Phase == ShardCompleted || s.Phase == Skipped
		if in.Obj.Status.Phase == RollingBack {
			ended = s.WantTemplate == "" || s.Phase == ShardCompleted && !isForward(s.WantTemplate)
			if s.Index > index && !ended {
				return s.Index, true
			}
		} else if s.Index < index && !ended {
			return s.Index, true
		}
	}
	return 0, false
}

// decideUpgradingReplicas replaces one replica. It comes back here for the next, when the
// shard is whole again: losing a second copy could lose writes.
func decideUpgradingReplicas(in shard) fsm.Decision {
	s := viewOf(in)
	if !s.isApplied() {
		return s.awaitTemplate(in)
	}
	if s.isSurplus() { // who serves never changed, or came back by itself
		return fsm.Fire(SurgeDone, ReasonRemovingSurge)
	}
	if n, found := s.named(s.Replacing); found && isCurrent(n) && n.Server != nil {
		return fsm.Fire(ReplicaBack, ReasonReplacing)
	}
	if d, acts := s.removeBroken(in); acts {
		return d
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, found := s.cannotFollow(); found && in.Obj.Status.Phase == RollingBack {
		return s.remove(in, n)
	}
	if n, doubt := nodeBehind(s.nodes); doubt != "" {
		return fsm.Fire(ReplicaBack, ReasonNotInSync).Because("%s %s.", n.Name, doubt)
	}
	if n, old := s.outdatedReplica(); old {
		return s.remove(in, n)
	}
	return fsm.Fire(ReplicasCurrent, ReasonAllCurrent)
}

// decideWaitingForSync waits until every server of the shard has all of it, and then says
// what comes next: another replica, or the failover.
func decideWaitingForSync(in shard) fsm.Decision {
	s := viewOf(in)
	if !s.isApplied() {
		return s.awaitTemplate(in)
	}
	switch {
	case s.owned && isCurrent(s.owner) && !s.handsSlotsBack():
		return fsm.Fire(PrimaryCurrent, ReasonPromoted)
	case s.FailedFailovers >= mostFailovers:
		return fsm.Fire(FailoversFailed, ReasonFailoverFailed).Because("In %d tries no replica took over from %s.", s.FailedFailovers, s.owner.Name)
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, doubt := nodeBehind(s.nodes); doubt != "" {
		return s.awaitSync(in, n, doubt)
	}
	if left := settle - in.Now.Sub(in.Place.Since.Time); left > 0 {
		return fsm.Wait(ReasonNotInSync, "valkey").In(left).Because("Shard %s: waiting for all servers to know that it is in sync.", in.Lane).OrLate(fsm.Verdict{Reason: ReasonSyncTimeout})
	}
	if _, old := s.outdatedReplica(); old {
		return fsm.Fire(NextReplica, ReasonInSync)
	}
	if _, doubt := failoverCandidate(in, s); doubt != "" {
		return fsm.Wait(ReasonNoCandidate, "valkey").In(glance).Because("Shard %s: waiting for a replica that can take over: %s.", in.Lane, doubt)
	}
	if left := untilNextFailover(in, s); left > 0 {
		return fsm.Wait(ReasonSpacing, "valkey").In(left).Because("Shard %s: waiting until the servers may vote again after the last failover.", in.Lane)
	}
	return fsm.Fire(ReplicasSynced, ReasonInSync)
}

// outdatedReplica is a replica that does not run what is wanted.
func (s shardView) outdatedReplica() (topology.Node, bool) {
	return s.find(func(n topology.Node) bool { return n.UID != "" && n.Outdated && n.Name != s.owner.Name })
}

// cannotFollow is a replica that does not run what is wanted and does not have all of its shard:
// it is no copy, and as it is may never become one.
func (s shardView) cannotFollow() (topology.Node, bool) {
	return s.find(func(n topology.Node) bool {
		return n.UID != "" && n.Outdated && s.owned && n.Name != s.owner.Name && n.Server != nil && trails(n, s.owner) != ""
	})
}

func (s shardView) awaitTemplate(in shard) fsm.Decision {
	return fsm.Wait(ReasonTemplateNotApplied, "children", "cluster").In(glance).
		Because("Shard %s: waiting for the cluster's controller to apply the template to StatefulSet %s.", in.Lane, s.set.Name)
}

// awaitPod waits for a pod, and says what is wrong with it.
func (s shardView) awaitPod(in shard, n topology.Node) fsm.Decision {
	if n.Name == s.Replacing && !n.Trouble.Is() {
		return fsm.Wait(ReasonReplacing, "pods", "valkey").In(glance).Because("Shard %s: waiting for %s to come back.", in.Lane, n.Name).
			OrLate(fsm.Verdict{Reason: ReasonPodNotReady})
	}
	return fsm.Wait(ReasonPodNotReady, "pods", "valkey").In(glance).Because("Shard %s: waiting for %s to answer%s.", in.Lane, n.Name, told(n)).
		OrLate(fsm.Verdict{Reason: ReasonPodNotReady})
}

func (s shardView) awaitSync(in shard, n topology.Node, doubt string) fsm.Decision {
	return fsm.Wait(ReasonNotInSync, "valkey").In(glance).Because("Shard %s: waiting for %s to have all of the shard: it %s.", in.Lane, n.Name, doubt).
		OrLate(fsm.Verdict{Reason: ReasonSyncTimeout})
}

// mustGoBack says that a shard that was changed is to have again what it had before.
func mustGoBack(in shard) bool {
	s := record(in.Obj, indexOf(in.Lane))
	return goesBack(in.Obj, s) && isForward(s.WantTemplate)
}

// cannotGoBack says that a shard whose primary has the new version did not come back on the
// former one: then what went back goes forward again.
func cannotGoBack(in shard) bool {
	s := viewOf(in)
	back := s.WantTemplate != "" && !isForward(s.WantTemplate) && s.set.Template == s.WantTemplate && s.set.Settled
	return in.Obj.Status.Phase == RollingBack && s.NoWayBack && back && s.owned && s.owner.Outdated
}

// downgraded says that a server came back older than the primary that it is to replace.
func downgraded(in shard) bool {
	_, is := olderNode(in)
	return is && !in.Obj.Spec.AllowDowngrade && in.Obj.Status.Phase == InProgress
}

func whyNotDowngrade(in shard) string {
	n, _ := olderNode(in)
	return fmt.Sprintf("Shard %s: %s came back with version %s, older than %s of its primary; set spec.allowDowngrade if that is intended.",
		in.Lane, n.Name, n.Server.Version, viewOf(in).owner.Server.Version)
}

func olderNode(in shard) (topology.Node, bool) {
	s := viewOf(in)
	if !s.isApplied() || !s.owned || isCurrent(s.owner) {
		return topology.Node{}, false
	}
	return s.find(func(n topology.Node) bool {
		return isCurrent(n) && n.Server != nil && n.Server.Version != "" && topology.Older(n.Server.Version, s.owner.Server.Version)
	})
}
