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
	RemovingSurge           fsm.Phase = "RemovingSurge"
	ShardCompleted          fsm.Phase = "Completed"
	ShardHasFailed          fsm.Phase = "Failed"
	Skipped                 fsm.Phase = "Skipped"
)

// The events of one shard.
const (
	AlreadyCurrent   fsm.Event = "AlreadyCurrent"   // the shard has what is wanted
	ItsTurn          fsm.Event = "ItsTurn"          // all shards before it have ended
	CanaryFailed     fsm.Event = "CanaryFailed"     // the canary shards did not do well
	ClusterUnhealthy fsm.Event = "ClusterUnhealthy" // the cluster was not whole, for too long
	ReplicaBack      fsm.Event = "ReplicaBack"      // a replica that was replaced answers
	ReplicasCurrent  fsm.Event = "ReplicasCurrent"  // every replica runs what is wanted
	NextReplica      fsm.Event = "NextReplica"      // all are in sync, and another replica is to be replaced
	PrimaryCurrent   fsm.Event = "PrimaryCurrent"   // the primary runs what is wanted
	ReplicasSynced   fsm.Event = "ReplicasSynced"   // a replica that runs what is wanted may take over
	Promoted         fsm.Event = "Promoted"         // it has
	CandidateLost    fsm.Event = "CandidateLost"    // before it was asked, something came in the way
	FailoverFailed   fsm.Event = "FailoverFailed"   // it was asked, and nothing came of it
	FailoversFailed  fsm.Event = "FailoversFailed"  // nothing came of it again and again
	FailoverRefused  fsm.Event = "FailoverRefused"  // the server does not let us ask
	ClusterStable    fsm.Event = "ClusterStable"    // all agree on the new primary, and the old one follows it
	RoleLost         fsm.Event = "RoleLost"         // the primary runs what is not wanted after all
	HandsSlotsBack   fsm.Event = "HandsSlotsBack"   // the surge replica gives back what it took over
	SurgeDone        fsm.Event = "SurgeDone"        // the surge replica has nothing left to do
	ShardCurrent     fsm.Event = "ShardCurrent"     // every pod of the shard runs what is wanted
	NotInTime        fsm.Event = "NotInTime"        // what was awaited did not come in time
	DowngradeRefused fsm.Event = "DowngradeRefused" // a server came back older than its primary
	RollbackBegun    fsm.Event = "RollbackBegun"    // the shard is to go back
	GoesForward      fsm.Event = "GoesForward"      // it cannot go back
)

// The reasons of one shard.
const (
	ReasonNotItsTurn         fsm.Reason = "NotItsTurn"         // an earlier shard has not ended
	ReasonItsTurn            fsm.Reason = "ItsTurn"            // all earlier ones have
	ReasonSoaking            fsm.Reason = "Soaking"            // the canary shards are being watched
	ReasonCanaryFailed       fsm.Reason = "CanaryFailed"       // they did not do well
	ReasonTemplateNotApplied fsm.Reason = "TemplateNotApplied" // the cluster's controller has not applied the template yet
	ReasonReplacing          fsm.Reason = "Replacing"          // a pod is being replaced
	ReasonPodNotReady        fsm.Reason = "PodNotReady"        // a pod is not back, or not ready; the message says why
	ReasonNotInSync          fsm.Reason = "NotInSync"          // a server does not have all of its shard
	ReasonSyncTimeout        fsm.Reason = "SyncTimeout"        // it did not get it in time
	ReasonInSync             fsm.Reason = "InSync"             // every server has all of its shard
	ReasonUnproven           fsm.Reason = "Unproven"           // a pod may not be deleted yet; the message says why
	ReasonNoCandidate        fsm.Reason = "NoCandidate"        // no replica may take over yet; the message says why
	ReasonNotApproved        fsm.Reason = "NotApproved"        // a person must approve the failover
	ReasonSpacing            fsm.Reason = "Spacing"            // servers vote only once in a while
	ReasonFailingOver        fsm.Reason = "FailingOver"        // a replica takes over
	ReasonFailoverFailed     fsm.Reason = "FailoverFailed"     // nothing came of it again and again
	ReasonPromoted           fsm.Reason = "Promoted"           // a replica that runs what is wanted is the primary
	ReasonPrimaryOutdated    fsm.Reason = "PrimaryOutdated"    // the primary does not run what is wanted
	ReasonRemovingSurge      fsm.Reason = "RemovingSurge"      // the replica that the shard had for the upgrade only is being removed
	ReasonSurgeServes        fsm.Reason = "SurgeServes"        // it has taken over again
	ReasonClusterUnstable    fsm.Reason = "ClusterUnstable"    // servers do not agree yet; the message says on what
	ReasonClusterStable      fsm.Reason = "ClusterStable"      // they do
)
