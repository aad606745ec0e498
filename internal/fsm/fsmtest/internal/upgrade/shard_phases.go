package upgrade

import "github.com/statecraft-dev/statecraft/internal/fsm"

// The phases of one shard.
const (
	ShardPending            fsm.Phase = "Pending"
	UpgradingReplicas       fsm.Phase = "UpgradingReplicas"
	WaitingForSync          fsm.Phase = "WaitingForSync"
	FailingOver             fsm.Phase = "FailingOver"
	WaitingForClusterStable fsm.Phase = "WaitingForClusterStable"
	UpgradingOldMaster      fsm.Phase = "UpgradingOldMaster"
	ShardCompleted          fsm.Phase = "Completed"
	ShardFailedPhase        fsm.Phase = "Failed"
	Skipped                 fsm.Phase = "Skipped"
)

// The events of one shard.
const (
	AlreadyCurrent  fsm.Event = "AlreadyCurrent"
	Turn            fsm.Event = "Turn"
	ReplicasCurrent fsm.Event = "ReplicasCurrent"
	PrimaryCurrent  fsm.Event = "PrimaryCurrent"
	ReplicasSynced  fsm.Event = "ReplicasSynced"
	Promoted        fsm.Event = "Promoted"
	Settled         fsm.Event = "Settled"
	ShardCurrent    fsm.Event = "ShardCurrent"
	FailoverRefused fsm.Event = "FailoverRefused"
)

// The reasons of one shard.
const (
	ReasonNotItsTurn         fsm.Reason = "NotItsTurn"         // an earlier shard has not ended
	ReasonItsTurn            fsm.Reason = "ItsTurn"            // all earlier ones have
	ReasonWaitingForTemplate fsm.Reason = "WaitingForTemplate" // the cluster controller has not applied the image yet
	ReasonWaitingForSync     fsm.Reason = "WaitingForSync"     // a node is missing or behind
	ReasonReplicaOutdated    fsm.Reason = "ReplicaOutdated"    // a replica runs another image
	ReasonPrimaryOutdated    fsm.Reason = "PrimaryOutdated"    // the primary does
	ReasonNoCandidate        fsm.Reason = "NoCandidate"        // no replica may be promoted
	ReasonNotApproved        fsm.Reason = "NotApproved"        // a person must approve the failover
	ReasonClusterUnstable    fsm.Reason = "ClusterUnstable"    // nodes do not agree yet
)

type shard = fsm.LaneInput[*Upgrade, World]

var shardRules = fsm.Rules[shard]{
	Start: ShardPending,
	Holds: []fsm.Hold[shard]{{Reason: ReasonNotApproved, In: []fsm.Phase{FailingOver}, When: notApproved, Wake: "self"}},
	Phases: map[fsm.Phase]fsm.Rule[shard]{
		ShardPending: {
			Doc:    "Waiting for its turn.",
			Class:  fsm.Working,
			Decide: decideShardPending,
			On:     map[fsm.Event]fsm.Phase{AlreadyCurrent: Skipped, Turn: UpgradingReplicas},
		},
		UpgradingReplicas: {
			Doc:    "Replacing replicas, one at a time.",
			Class:  fsm.Working,
			Decide: decideUpgradingReplicas,
			On:     map[fsm.Event]fsm.Phase{ReplicasCurrent: WaitingForSync, TimedOut: ShardFailedPhase},
			Within: podTimeout,
			Late:   TimedOut,
		},
		WaitingForSync: {
			Doc:    "Waiting until every replica has caught up.",
			Class:  fsm.Working,
			Decide: decideWaitingForSync,
			On: map[fsm.Event]fsm.Phase{ReplicasSynced: FailingOver, PrimaryCurrent: WaitingForClusterStable,
				TimedOut: ShardFailedPhase},
			Within: syncTimeout,
			Late:   TimedOut,
		},
		FailingOver: {
			Doc:    "Handing the primary role to an updated replica.",
			Class:  fsm.Working,
			Decide: decideFailingOver,
			On: map[fsm.Event]fsm.Phase{Promoted: WaitingForClusterStable, FailoverRefused: ShardFailedPhase,
				TimedOut: ShardFailedPhase},
			Within: failoverTimeout,
			Late:   TimedOut,
			Fail:   map[fsm.ErrorClass]fsm.Event{fsm.Refused: FailoverRefused},
		},
		WaitingForClusterStable: {
			Doc:    "Waiting until all nodes agree about the new primary.",
			Class:  fsm.Working,
			Decide: decideWaitingForClusterStable,
			On:     map[fsm.Event]fsm.Phase{Settled: UpgradingOldMaster, TimedOut: ShardFailedPhase},
			Within: syncTimeout,
			Late:   TimedOut,
		},
		UpgradingOldMaster: {
			Doc:    "Replacing what was the primary.",
			Class:  fsm.Working,
			Decide: decideUpgradingOldMaster,
			On:     map[fsm.Event]fsm.Phase{ShardCurrent: ShardCompleted, TimedOut: ShardFailedPhase},
			Within: podTimeout,
			Late:   TimedOut,
		},
		ShardCompleted:   {Doc: "Every node of the shard runs the wanted image.", Class: fsm.Done},
		ShardFailedPhase: {Doc: "The shard could not be upgraded.", Class: fsm.Failed},
		Skipped:          {Doc: "Every node already ran the wanted image.", Class: fsm.Done},
	},
}
