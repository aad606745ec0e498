package upgrade

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

const (
	// failoverTimeout is how long a failover may take, from the moment on that a replica is asked.
	failoverTimeout = 10 * time.Second
	// settle is how long a shard rests before the next step: what one server knows of
	// another takes a while to be known to all.
	settle = 2 * time.Second
	// linger is how long what was the primary goes on telling clients who is.
	linger = 2 * time.Second
)

// refused lets an effect that would be refused again end the shard.
var refused = map[fsm.ErrorClass]fsm.Event{fsm.Refused: EffectRefused}

var shardRules = fsm.Rules[shard]{
	Start: ShardPending,
	Groups: []fsm.Group{{Name: "Upgrading", Phases: []fsm.Phase{UpgradingReplicas, WaitingForSync, FailingOver,
		WaitingForClusterStable, UpgradingOldMaster, RemovingSurge}}},
	Guards: []fsm.Guard[shard]{
		{On: DowngradeRefused, To: ShardHasFailed, In: []fsm.Phase{UpgradingReplicas, WaitingForSync}, When: downgraded, Say: whyNotDowngrade},
		{On: RollbackBegun, To: ShardPending, In: []fsm.Phase{ShardCompleted, ShardHasFailed}, When: mustGoBack},
		{On: GoesForward, To: ShardPending, In: []fsm.Phase{ShardHasFailed}, When: cannotGoBack},
	},
	Holds: []fsm.Hold[shard]{{Reason: ReasonNotApproved, In: []fsm.Phase{FailingOver}, When: notApproved, Wake: "self"}},
	Phases: map[fsm.Phase]fsm.Rule[shard]{
		ShardPending: {
			Doc:    "Waiting for its turn.",
			Class:  fsm.Working,
			Decide: decideShardPending,
			On: map[fsm.Event]fsm.Phase{AlreadyCurrent: Skipped, ItsTurn: UpgradingReplicas, CanaryFailed: ShardHasFailed,
				ClusterUnhealthy: ShardHasFailed},
		},
		UpgradingReplicas: {
			Doc:    "Replacing replicas, one at a time.",
			Class:  fsm.Working,
			Decide: decideUpgradingReplicas,
			On: map[fsm.Event]fsm.Phase{ReplicaBack: WaitingForSync, ReplicasCurrent: WaitingForSync, SurgeDone: RemovingSurge,
				NotInTime: ShardHasFailed, EffectRefused: ShardHasFailed},
			Until: func(in shard) time.Time { return in.Now.Add(podTimeout(in)) },
			Late:  NotInTime,
			Fail:  refused,
		},
		WaitingForSync: {
			Doc:    "Waiting until every server of the shard has all of it, and one that runs what is wanted may take over.",
			Class:  fsm.Working,
			Decide: decideWaitingForSync,
			On: map[fsm.Event]fsm.Phase{NextReplica: UpgradingReplicas, PrimaryCurrent: WaitingForClusterStable, ReplicasSynced: FailingOver,
				FailoversFailed: ShardHasFailed, NotInTime: ShardHasFailed},
			Until: func(in shard) time.Time {
				return in.Now.Add(syncTimeout(in) + max(0, untilNextFailover(in, viewOf(in))))
			},
			Late: NotInTime,
		},
		FailingOver: {
			Doc:    "A replica that runs what is wanted takes over.",
			Class:  fsm.Working,
			Decide: decideFailingOver,
			On: map[fsm.Event]fsm.Phase{Promoted: WaitingForClusterStable, CandidateLost: WaitingForSync, FailoverFailed: WaitingForSync,
				FailoverRefused: ShardHasFailed},
			Until: func(in shard) time.Time { return in.Now.Add(askAgain(in) + failoverTimeout) },
			Late:  FailoverFailed,
			Fail:  map[fsm.ErrorClass]fsm.Event{fsm.Refused: FailoverRefused},
		},
		WaitingForClusterStable: {
			Doc:    "Waiting until all agree on the new primary, and the old one follows it.",
			Class:  fsm.Working,
			Decide: decideWaitingForClusterStable,
			On:     map[fsm.Event]fsm.Phase{ClusterStable: UpgradingOldMaster, RoleLost: WaitingForSync, NotInTime: ShardHasFailed},
			Until:  func(in shard) time.Time { return in.Now.Add(syncTimeout(in) + 2*nodeTimeout(in)) },
			Late:   NotInTime,
		},
		UpgradingOldMaster: {
			Doc:    "Replacing what was the primary.",
			Class:  fsm.Working,
			Decide: decideUpgradingOldMaster,
			On: map[fsm.Event]fsm.Phase{ShardCurrent: ShardCompleted, RoleLost: WaitingForSync, HandsSlotsBack: WaitingForSync,
				SurgeDone: RemovingSurge, NotInTime: ShardHasFailed, EffectRefused: ShardHasFailed},
			Until: func(in shard) time.Time { return in.Now.Add(podTimeout(in) + syncTimeout(in)) },
			Late:  NotInTime,
			Fail:  refused,
		},
		RemovingSurge: {
			Doc:    "The replica that a shard without replicas had for the upgrade is forgotten by all, and removed.",
			Class:  fsm.Working,
			Decide: decideRemovingSurge,
			On:     map[fsm.Event]fsm.Phase{ShardCurrent: ShardCompleted, RoleLost: WaitingForSync, NotInTime: ShardHasFailed},
			Until:  func(in shard) time.Time { return in.Now.Add(podTimeout(in) + syncTimeout(in)) },
			Late:   NotInTime,
		},
		ShardCompleted: {Doc: "Every pod of the shard runs what is wanted.", Class: fsm.Done},
		ShardHasFailed: {Doc: "The shard could not be upgraded, or not be brought back.", Class: fsm.Failed},
		Skipped:        {Doc: "Every pod of the shard had what is wanted.", Class: fsm.Done},
	},
}

// nodeTimeout is how long servers take to call another failing, and so to forget one that
// came back under another name.
func nodeTimeout(in shard) (longest time.Duration) {
	for _, n := range in.World.Nodes {
		if n.Server != nil {
			longest = max(longest, time.Duration(n.Server.Timeout)*time.Millisecond)
		}
	}
	return longest
}

func podTimeout(in shard) time.Duration { return seconds(in.Obj.Spec.PodReadyTimeoutSeconds, 600) }

func syncTimeout(in shard) time.Duration {
	return seconds(in.Obj.Spec.ReplicationSyncTimeoutSeconds, 300)
}

// seconds is a duration of the spec, or its default where it was left out.
func seconds(given, otherwise int32) time.Duration {
	if given <= 0 {
		given = otherwise
	}
	return time.Duration(given) * time.Second
}
