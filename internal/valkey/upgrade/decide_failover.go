package upgrade

import (
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	// mostFailovers is how often a failover may come to nothing.
	mostFailovers = 3
	// askWithin is how long after the decision a replica may be asked to take over. Later
	// than that it may have been asked by a process that crashed before it could say so,
	// and to ask again would begin the failover anew: see askAgain.
	askWithin = 4 * time.Second
	// catchUp is how long what was the primary may take to follow the new one.
	catchUp = 10 * time.Second
)

// decideFailingOver asks once, and then looks. That the phase was entered is saved before,
// so a crash does not ask again at once.
func decideFailingOver(in shard) fsm.Decision {
	s := viewOf(in)
	if s.isApplied() && s.owned && isCurrent(s.owner) && !s.handsSlotsBack() {
		return s.awaitOldPrimary(in)
	}
	if s.OldPrimary == "" { // it was decided a moment ago, and is about to be saved
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("Shard %s: waiting for a replica to take over.", in.Lane)
	}
	to, found := s.named(s.Promoted)
	if found && s.hasRival(to) {
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("Shard %s: waiting for %s to hear that %s has taken over.", in.Lane, s.OldPrimary, s.Promoted)
	}
	if !s.isApplied() || !found || !s.mayTakeOver(to) {
		return fsm.Fire(CandidateLost, ReasonNoCandidate).Because("%s does not follow %s any more, or does not run what is wanted.", s.Promoted, s.OldPrimary)
	}
	words := "Shard " + in.Lane + ": waiting for " + s.Promoted + " to take over from " + s.OldPrimary
	if d, begun := s.awaitFailover(in, words); begun {
		return d
	}
	return s.ask(in, to, words)
}

// awaitFailover waits for a replica that was asked, or may have been, and gives up one that was asked long enough ago.
func (s shardView) awaitFailover(in shard, words string) (d fsm.Decision, begun bool) {
	switch stay := in.Now.Sub(s.Since.Time); {
	case s.wasAsked() && in.Now.Sub(s.LastFailover.Time) >= failoverTimeout:
		return fsm.Fire(FailoverFailed, ReasonFailoverFailed).Because("%s was asked to take over from %s, and did not in time.", s.Promoted, s.OldPrimary), true
	case s.wasAsked() || stay >= askWithin && stay < askAgain(in):
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("%s.", words), true
	}
	return d, false
}

// mayTakeOver says that nothing has come in the way of a replica since it was decided upon.
func (s shardView) mayTakeOver(to topology.Node) bool {
	return isCurrent(to) && s.follows(to) && s.owner.Name == s.OldPrimary
}

// hasRival says that a replica has taken over, and the old primary does not know it yet: for
// a moment both claim the slots.
func (s shardView) hasRival(to topology.Node) bool {
	return isCurrent(to) && s.owner.Name == s.OldPrimary && to.Name != s.OldPrimary && to.Server != nil && to.Server.Self().Slots != ""
}

// ask asks a replica to take over, if that still can be proven. If it were wrong, what the
// replica lacks would be lost.
func (s shardView) ask(in shard, to topology.Node, words string) fsm.Decision {
	proof, doubt := plan.ProveFailover(in.World.Nodes, to.Server.ID, lag)
	switch {
	case doubt != "":
		return fsm.Wait(ReasonNoCandidate, "valkey").In(glance).Because("%s: %s.", words, doubt)
	case isSupervised(in) && in.Obj.Annotations[valkeyv1.ApproveAnnotation] != tokenOf(in, s, to):
		return fsm.Wait(ReasonNotApproved, "self").In(glance).Because("%s: the approval was taken back, or was of another failover; approve it again.", words)
	case in.World.Reservation.State != reserve.Ours:
		return fsm.Wait(ReasonNotLooked, reserve.Wake.Name).In(glance).Because(waitForReservation)
	}
	return fsm.Do(ReasonFailingOver, Failover{memberOf(to), memberOf(s.owner), proof}).Because("%s.", words)
}

// awaitOldPrimary: the failover has succeeded when what was the primary knows it, too, if it answers.
func (s shardView) awaitOldPrimary(in shard) fsm.Decision {
	old, found := s.named(s.OldPrimary)
	if found && old.Name != s.owner.Name && old.Server != nil && !s.follows(old) {
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("Shard %s: waiting for %s to follow %s.", in.Lane, old.Name, s.owner.Name)
	}
	return fsm.Fire(Promoted, ReasonPromoted)
}

// wasAsked says that a replica is known to have been asked in this stay.
func (s shardView) wasAsked() bool {
	return s.LastFailover != nil && !s.LastFailover.Time.Before(s.Since.Time)
}

// askAgain is how long after the decision a replica is asked by another process than the one
// that decided it: whatever that one may have begun is over, and the servers vote again.
func askAgain(in shard) time.Duration {
	_, afterFailure := in.World.Nodes.Spacing()
	return askWithin + max(failoverTimeout, afterFailure)
}

// untilNextFailover is how long to wait before a replica of the shard is asked again. The
// cluster's controller may have asked one, too, of any shard.
func untilNextFailover(in shard, s shardView) time.Duration {
	after, afterFailure := in.World.Nodes.Spacing()
	if s.FailedFailovers > 0 {
		after = afterFailure
	}
	last := in.World.Cluster.LastFailover
	if s.LastFailover != nil && s.LastFailover.After(last) {
		last = s.LastFailover.Time
	}
	if last.IsZero() {
		return 0
	}
	return max(failoverTimeout, after) - in.Now.Sub(last)
}

// decideWaitingForClusterStable waits until all agree on the new primary. What was the
// primary follows it as a rule at once; if it has an older version it may not be able to,
// and then it is replaced as it is.
func decideWaitingForClusterStable(in shard) fsm.Decision {
	s := viewOf(in)
	if !s.isApplied() {
		return s.awaitTemplate(in)
	}
	if s.owned && s.owner.Outdated {
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	}
	stay := in.Now.Sub(in.Place.Since.Time)
	if s.isSurplus() && stay >= linger {
		return fsm.Fire(ClusterStable, ReasonClusterStable)
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, doubt := s.trailingNode(stay); doubt != "" {
		return s.awaitSync(in, n, doubt)
	}
	if doubt, agree := in.World.agree(in.World.intact()); !agree {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(glance).Because("Shard %s: waiting for all servers to agree: %s.", in.Lane, doubt)
	}
	if left := linger - stay; left > 0 {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(left).Because("Shard %s: waiting a few seconds for clients to learn who is the primary.", in.Lane)
	}
	return fsm.Fire(ClusterStable, ReasonClusterStable)
}

// trailingNode is a server that does not have all of the shard, and what it lacks. One that is to
// be replaced anyway has had its time after a while; it must follow all the same.
func (s shardView) trailingNode(stay time.Duration) (n topology.Node, doubt string) {
	old, found := s.cannotFollow()
	switch {
	case !found || stay < catchUp:
		return nodeBehind(s.nodes)
	case !s.follows(old):
		return old, "does not follow the primary of its shard"
	}
	return topology.Node{}, ""
}

// decideUpgradingOldMaster replaces what is left: as a rule the pod that was the primary.
func decideUpgradingOldMaster(in shard) fsm.Decision {
	s := viewOf(in)
	if !s.isApplied() {
		return s.awaitTemplate(in)
	}
	if s.owned && s.owner.Outdated {
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	}
	if s.isSurplus() {
		return fsm.Fire(SurgeDone, ReasonRemovingSurge)
	}
	if d, acts := s.removeBroken(in); acts {
		return d
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, found := s.cannotFollow(); found {
		return s.remove(in, n)
	}
	if n, doubt := nodeBehind(s.nodes); doubt != "" {
		return s.awaitSync(in, n, doubt)
	}
	if n, old := s.outdatedReplica(); old {
		return s.remove(in, n)
	}
	if n, unready := s.nodes.Unready(); unready {
		return fsm.Wait(ReasonPodNotReady, "pods").In(glance).Because("Shard %s: waiting for %s to be ready.", in.Lane, describe(n))
	}
	if s.handsSlotsBack() {
		return fsm.Fire(HandsSlotsBack, ReasonAllCurrent).Because("%s gets the slots back, because %s is removed.", s.nodes[homeOrdinal].Name, s.owner.Name)
	}
	return fsm.Fire(ShardCurrent, ReasonAllCurrent)
}
