package upgrade

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	// mostFailovers is how often a failover may come to nothing.
	mostFailovers = 3
	// askWithin is how long after the decision a replica may be asked to take over. Later
	// than that it may have been asked by a process that crashed before it could say so,
	// and to ask again would begin the failover anew.
	askWithin = 4 * time.Second
)

// decideFailingOver asks once, and then looks. That the phase was entered is saved before,
// so a crash does not ask again at once.
func decideFailingOver(in shard) fsm.Decision {
	s := look(in)
	if s.applied() && s.owned && current(s.owner) {
		return s.taken(in)
	}
	words := "shard " + in.Lane + ": " + s.Promoted + " to take over from " + s.OldPrimary
	if asked(s, in.Now) {
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("%s", words)
	}
	to, proof, doubt := s.heir(in)
	if doubt != "" {
		return fsm.Fire(HeirLost, ReasonNoHeir).Because("%s", doubt)
	}
	if in.World.Reservation.State != Ours {
		return fsm.Wait(ReasonNotLooked, "reservations").In(glance).Because("the reservation of the cluster")
	}
	return fsm.Do(ReasonFailingOver, Failover{memberOf(to), memberOf(s.owner), proof}).Because("%s", words)
}

// taken: the failover has succeeded when what was the primary knows it, too, if it answers.
func (s sight) taken(in shard) fsm.Decision {
	old, found := s.named(s.OldPrimary)
	if found && old.Name != s.owner.Name && old.Server != nil && !s.follows(old) {
		return fsm.Wait(ReasonFailingOver, "valkey").In(glance).Because("shard %s: %s to follow %s", in.Lane, old.Name, s.owner.Name)
	}
	return fsm.Fire(Promoted, ReasonPromoted)
}

// heir is the replica that was decided upon, proven anew, or what came in the way.
func (s sight) heir(in shard) (to topology.Node, proof plan.FailoverProof, doubt string) {
	to, found := s.named(s.Promoted)
	switch {
	case !s.applied() || !s.owned || s.owner.Name != s.OldPrimary:
		return to, nil, "the primary, or its template, is another by now"
	case !found || !current(to) || to.Server == nil:
		return to, nil, s.Promoted + " does not answer, or does not run what is wanted"
	}
	proof, doubt = plan.ProveFailover(in.World.Nodes, to.Server.ID, lag)
	return to, proof, doubt
}

// asked says that a replica was asked in this stay, or may have been.
func asked(s sight, now time.Time) bool {
	since := s.Since.Time
	return s.LastFailover != nil && !s.LastFailover.Time.Before(since) || now.Sub(since) >= askWithin
}

// untilNextFailover is how long to wait before a replica of the shard is asked again. The
// cluster's controller may have asked one, too, of any shard.
func untilNextFailover(in shard, s sight) time.Duration {
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

// decideWaitingForClusterStable waits until all agree on the new primary.
func decideWaitingForClusterStable(in shard) fsm.Decision {
	s := look(in)
	if !s.applied() {
		return s.awaitTemplate(in)
	}
	if s.owned && s.owner.Outdated {
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, doubt := behind(s.nodes); doubt != "" {
		return fsm.Wait(ReasonNotInSync, "valkey").In(glance).Because("shard %s: %s to have all of the shard: it %s", in.Lane, n.Name, doubt)
	}
	if doubt, agree := in.World.Nodes.Agree(); !agree {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(glance).Because("shard %s: all to agree: %s", in.Lane, doubt)
	}
	if left := linger - in.Now.Sub(in.Place.Since.Time); left > 0 {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(left).Because("shard %s: clients to hear from %s who is the primary", in.Lane, s.OldPrimary)
	}
	return fsm.Fire(ClusterStable, ReasonClusterStable)
}

// decideUpgradingOldMaster replaces what is left: as a rule the pod that was the primary.
func decideUpgradingOldMaster(in shard) fsm.Decision {
	s := look(in)
	if !s.applied() {
		return s.awaitTemplate(in)
	}
	if s.owned && s.owner.Outdated {
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	}
	if d, acts := s.removeBroken(in); acts {
		return d
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if n, doubt := behind(s.nodes); doubt != "" {
		return fsm.Wait(ReasonNotInSync, "valkey").In(glance).Because("shard %s: %s to have all of the shard: it %s", in.Lane, n.Name, doubt)
	}
	if n, old := s.outdatedReplica(); old {
		return s.remove(in, n)
	}
	if n, unready := s.nodes.Unready(); unready {
		return fsm.Wait(ReasonPodNotReady, "pods").In(glance).Because("shard %s: %s to be ready", in.Lane, describe(n))
	}
	return fsm.Fire(ShardCurrent, ReasonAllCurrent)
}
