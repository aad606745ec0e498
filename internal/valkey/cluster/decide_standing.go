package cluster

import (
	"fmt"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const (
	firstRecovery = 30 * time.Second // after a failure; doubled by each one that is remembered
	lastRecovery  = 10 * time.Minute
)

// decideVerifyingClusterHealth waits while what has just been formed settles. A
// cluster that was formed long ago and lacks a node has not to settle: it is
// degraded.
func decideVerifyingClusterHealth(in input) fsm.Decision {
	w := in.World
	doubt, healthy := healthy(in)
	if healthy {
		return fsm.Fire(ClusterHealthy, ReasonClusterHealthy).Because("%s", healthyWords(w))
	}
	if hasty := restoreTimeout(in); len(hasty) > 0 && !in.Obj.Spec.Paused {
		return fsm.Do(ReasonVerifying, hasty...).Because("Waiting for the cluster to become healthy: %s.", doubt)
	}
	if why, lacks := w.lacks(); lacks && w.Formed {
		return fsm.Fire(ReplicasDegraded, ReasonNodesMissing).Because(degraded, why)
	}
	return fsm.Wait(ReasonVerifying, "pods", "valkey").In(recheck).Because("Waiting for the cluster to become healthy: %s.", doubt)
}

// lacksSomething lets a promotion come first, for which clients wait: to say so takes a write.
func lacksSomething(in input) bool {
	_, lacks := in.World.lacks()
	return lacks && (in.Obj.Spec.Paused || len(promoteReplica(in)) == 0)
}

func whatItLacks(in input) string {
	why, _ := in.World.lacks()
	return fmt.Sprintf(degraded, why)
}

func decideRunning(in input) fsm.Decision {
	w := in.World
	if effects := applyAsks(in); len(effects) > 0 {
		return fsm.Do(ReasonUpgrading, effects...).Because("%s", healthyWords(w))
	}
	scales, pending := scale(in)
	if pending && !scales.Waits() && approved(in) {
		return scales
	}
	reason, words := healthySummary(in)
	words += contested(w) + volumeTrouble(w)
	if effects := maintain(in); len(effects) > 0 {
		return fsm.Do(reason, effects...).Because("%s", words)
	}
	if pending {
		return recheckSoon(in, scales)
	}
	if spreads, is := spreadPrimaries(in); is && reason == ReasonClusterHealthy {
		return spreads
	}
	return recheckSoon(in, awaitRestart(in, fsm.Wait(reason, "pods", "valkey", "children").Because("%s", words)))
}

// recheckSoon looks again soon while an upgrade works on the cluster: its status asks for templates,
// and that event may be lost.
func recheckSoon(in input, d fsm.Decision) fsm.Decision {
	if in.World.Upgrade == nil || !d.Waits() || d.After > 0 && d.After <= recheck {
		return d
	}
	return d.In(recheck)
}

func decideDegraded(in input) fsm.Decision {
	doubt, healthy := healthy(in)
	if healthy {
		return fsm.Fire(ClusterHealthy, ReasonClusterHealthy).Because("%s", healthyWords(in.World))
	}
	if why, lacks := in.World.lacks(); lacks {
		doubt = why
	}
	if effects := applyAsks(in); len(effects) > 0 {
		return fsm.Do(ReasonUpgrading, effects...).Because(degraded, doubt)
	}
	if repairs, is := repair(in); is {
		return repairs
	}
	return awaitRepair(in, doubt)
}

// repair brings shards that do not run to the edited spec.
func repair(in input) (fsm.Decision, bool) {
	if repairs, is := repairStoppedShards(in); is {
		return repairs, true
	}
	return replaceSilentShard(in)
}

// awaitRepair says what keeps the cluster degraded, and who must act, the worst first.
func awaitRepair(in input, doubt string) fsm.Decision {
	majority, gone := majorityLost(in)
	if gone && takeoverCommand(in, in.World.Nodes.Owners()) != "" { // something is left, which a person can bring back
		return waitAndMaintain(in, ReasonMajorityLost, majority)
	}
	if words, lost := shardLost(in); lost {
		return waitAndMaintain(in, ReasonDataLost, words)
	}
	if gone {
		return waitAndMaintain(in, ReasonMajorityLost, majority)
	}
	if scales, pending := scale(in); pending && !scales.Waits() && approved(in) {
		return scales
	}
	if words, is := askToReplace(in); is {
		return waitAndMaintain(in, ReasonNotApproved, words)
	}
	return waitAndMaintain(in, ReasonNodesMissing, fmt.Sprintf(degraded, doubt)+podTrouble(in.World)+drainHint(in))
}

// degraded says what is wrong with a cluster that stands.
const degraded = "The cluster is degraded: %s."

// waitAndMaintain waits, and makes anew meanwhile what was lost.
func waitAndMaintain(in input, reason fsm.Reason, words string) fsm.Decision {
	if effects := maintain(in); len(effects) > 0 {
		return fsm.Do(reason, effects...).Because("%s", words)
	}
	return fsm.Wait(reason, "pods", "valkey", "children").In(recheck).Because("%s", words)
}

// healthy says that nothing is left to wish for, or what is. Servers that were left
// hasty would call each other failing too soon.
func healthy(in input) (doubt string, is bool) {
	if other := membersWithOtherTimeout(in.World.Nodes, nodeTimeout(in)); len(other) > 0 {
		return other[0].Pod + " has another node timeout than the spec", false
	}
	return in.World.healthy()
}

// maintain does what a cluster that stands has to do: first note that it may
// hold data, then give back its reservation, then make anew what was lost.
//
// NOTE: the template of a StatefulSet that exists is left as it is, because any pod
// that is lost comes back by it: what changes it must first see to the data.
func maintain(in input) (effects []fsm.Effect) {
	w := in.World
	if in.Obj.Spec.Paused {
		return nil
	}
	if c, found := w.child(func(c Child) bool { return c.Kind == KindConfigMap }); found && !w.Formed && c.UID != "" && !c.Foreign {
		effects = append(effects, MarkFormed{c.UID})
	}
	if w.Reservation.State == reserve.Ours {
		effects = append(effects, reserve.Release{Target: ownRef(in)})
	}
	effects = append(effects, restoreTimeout(in)...)
	for _, e := range w.apply(shardsToRelabel(w)) {
		if a := e.(ApplyChild); a.Child.Kind == KindStatefulSet && a.UID == "" {
			a.Image = runningImage(w, in.Obj.Spec.Image)
			e = a
		}
		effects = append(effects, e)
	}
	effects = append(effects, maintainClaims(in)...)
	effects = append(effects, applyAccess(in)...)
	effects = append(effects, applySettings(in)...)
	upgrades, _ := requestUpgrade(in)
	effects = append(effects, upgrades...)
	effects = append(effects, releasePlaces(in)...)
	return append(effects, growClaims(in)...)
}

// healthySummary is the reason and message of a healthy cluster.
func healthySummary(in input) (fsm.Reason, string) {
	_, follows := requestUpgrade(in)
	switch {
	case in.World.Upgrade != nil:
		return ReasonUpgrading, upgradeWorks(in.World)
	case follows != "":
		return ReasonChangeNotApplied, follows
	}
	if words := whyAbandoned(in.World); words != "" {
		return ReasonUpgradeAbandoned, words
	}
	if words, is := cannotWrite(in.World); is {
		return ReasonCannotWrite, words
	}
	return ReasonClusterHealthy, healthyWords(in.World) + drift(in)
}

// decideFailed tries again after a while, ever less often, but never where data
// was lost: there a person decides.
func decideFailed(in input) fsm.Decision {
	w := in.World
	if w.dataLost() {
		return decideDataLost(in)
	}
	after := recoverAfter(in) - in.Now.Sub(in.Obj.Status.Since.Time)
	if after <= 0 && w.looked() {
		return fsm.Fire(RecoveryInitiated, ReasonRecovering)
	}
	return repeatFailure(in).In(max(after, time.Second))
}

// decideDataLost begins anew only where the user said so beforehand.
func decideDataLost(in input) fsm.Decision {
	const words = "Every server came back empty"
	if c, found := in.World.child(func(c Child) bool { return c.Kind == KindConfigMap && c.UID != "" && !c.Foreign }); found &&
		in.Obj.Spec.OnTotalLoss == valkeyv1.RecreateOnTotalLoss && !in.Obj.Spec.Paused && in.World.Reservation.State != reserve.Others {
		return fsm.Do(ReasonDataLost, ForgetData{c.UID}).Because("%s; spec.onTotalLoss asks for an empty cluster, which the manager forms.", words)
	}
	return fsm.Wait(ReasonDataLost, "valkey").In(recheck).
		Because("%s; restore the data, or set spec.onTotalLoss to Recreate to begin with an empty cluster.", words)
}

// recoverAfter is how long the cluster stays failed.
func recoverAfter(in input) time.Duration {
	wait := firstRecovery / 2
	for _, h := range in.Obj.Status.History {
		if h.To == Failed {
			wait *= 2
		}
	}
	return min(max(wait, firstRecovery), lastRecovery)
}

// repeatFailure waits with the reason and message of the move that led here: the World does not show them.
func repeatFailure(in input) fsm.Decision {
	move, known := in.Obj.Status.LastMove(Failed)
	if !known || move.Event == DataLost || move.Message == "" {
		move.Reason, move.Message = ReasonUnfinished, "The cluster was not formed in time; the manager tries again."
	}
	return fsm.Wait(move.Reason, "children", "pods", "valkey").Because("%s", move.Message)
}

func healthyWords(w World) string {
	return fmt.Sprintf("All %d nodes are ready, and all %d slots are served.", len(w.Nodes), topology.TotalSlots)
}

func upgradeWorks(w World) string {
	return "ValkeyUpgrade " + w.Upgrade.Name + " works on the cluster."
}
