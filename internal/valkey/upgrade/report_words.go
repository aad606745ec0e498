package upgrade

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const longestFailure = 512 // as the schema has it

// noteFailure keeps why a shard was given up: when the upgrade has ended the World does not
// show it any more. in is the pass as it began.
func noteFailure(out *valkeyv1.ValkeyUpgrade, in input, outcomes []fsm.Outcome) {
	if out.Status.Failure != nil {
		return
	}
	for _, s := range out.Status.Shards {
		if s.Phase != ShardHasFailed {
			continue
		}
		reason, words := failureOf(laneOf(in, record(in.Obj, int(s.Index))), outcomes)
		if runes := []rune(words); len(runes) > longestFailure {
			words = string(runes[:longestFailure-1]) + "…"
		}
		out.Status.Failure = &valkeyv1.UpgradeFailure{Shard: s.Index, Reason: reason, Message: words}
		return
	}
	if out.Status.Phase == RollingBack {
		out.Status.Failure = &valkeyv1.UpgradeFailure{Reason: ReasonShardFailed}
	}
}

// timedOut is what a wait is called that was in vain.
var timedOut = map[fsm.Reason]fsm.Reason{ReasonReplacing: ReasonPodNotReady, ReasonNotInSync: ReasonSyncTimeout}

// failureOf is why a shard that stood so has failed: what was refused, or what was awaited
// when its time was over.
func failureOf(in shard, outcomes []fsm.Outcome) (fsm.Reason, string) {
	for _, o := range outcomes {
		if o.Err != nil {
			return fsm.Reason(EffectRefused), fmt.Sprintf("shard %s: %s: %s", in.Lane, o.Effect, fsm.Said(o.Err))
		}
	}
	if n, is := older(in); is && downgraded(in) {
		s := look(in)
		return fsm.Reason(DowngradeRefused), fmt.Sprintf("shard %s: %s came back with version %s, older than %s of its primary; "+
			"set allowDowngrade if that is meant", in.Lane, n.Name, n.Server.Version, s.owner.Server.Version)
	}
	decide := shardRules.Phases[in.Place.Phase].Decide
	if decide == nil {
		return ReasonShardFailed, "shard " + in.Lane + " failed"
	}
	d := decide(in)
	if !d.Waits() {
		return d.Reason, fmt.Sprintf("shard %s: %s", in.Lane, d.Message)
	}
	reason := d.Reason
	if as, known := timedOut[reason]; known {
		reason = as
	}
	return reason, "not in time: " + d.Message
}

// lastWords say more where an end has nothing but its name.
var lastWords = map[fsm.Reason]string{
	fsm.Reason(fsm.Lost): "the status of this upgrade was lost after it had begun, or a newer upgrade has changed the cluster; it is never begun " +
		"again: look at what the pods run, and make another upgrade",
	fsm.Reason(Superseded):    "another upgrade that is not older has changed the cluster meanwhile; make another one if this is still wanted",
	fsm.Reason(ClusterGone):   "the cluster that was to be upgraded is gone",
	fsm.Reason(ChecksFailed):  "the cluster could not be looked at, or not be reserved, for too long; make another upgrade",
	fsm.Reason(EffectRefused): "the cluster could not be reserved",
}

// conditions are the kernel's, with words.
func conditions(_ input, d fsm.Decision) []metav1.Condition {
	words, known := lastWords[d.Reason]
	if !known || d.Message != "" {
		return nil
	}
	return []metav1.Condition{
		{Type: fsm.Ready, Status: metav1.ConditionFalse, Reason: string(d.Reason), Message: words},
		{Type: fsm.Stalled, Status: metav1.ConditionTrue, Reason: string(d.Reason), Message: words},
	}
}

// noteVersions notes what ran before, and what the first server that came back runs.
func noteVersions(s *valkeyv1.ValkeyUpgradeStatus, w World) {
	begun := slices.ContainsFunc(s.Shards, func(shard valkeyv1.ShardUpgrade) bool { return shard.WantTemplate != "" })
	if _, silent := w.Nodes.Silent(); s.FromVersion == "" && !begun && !silent && w.looked() {
		s.FromVersion = versionOf(w.Nodes, func(topology.Node) bool { return true })
	}
	if s.ToVersion == "" && s.Phase == Completed { // every shard had it
		s.ToVersion = versionOf(w.Nodes, current)
	}
	for _, shard := range s.Shards {
		if s.ToVersion != "" {
			return
		}
		set, _ := w.shard(int(shard.Index))
		if isForward(shard.WantTemplate) && set.Settled && set.Template == shard.WantTemplate {
			s.ToVersion = versionOf(w.Nodes.Shard(set.Index), current)
		}
	}
}

// versionOf is the lowest version among the servers that are meant.
func versionOf(nodes topology.Nodes, meant func(topology.Node) bool) (low string) {
	for _, n := range nodes {
		if n.Server != nil && meant(n) && (low == "" || topology.Older(n.Server.Version, low)) {
			low = n.Server.Version
		}
	}
	return low
}
