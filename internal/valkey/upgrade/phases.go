package upgrade

import "github.com/statecraft-dev/statecraft/internal/fsm"

// The phases of an upgrade.
const (
	Pending     fsm.Phase = "Pending"
	PreChecks   fsm.Phase = "PreChecks"
	InProgress  fsm.Phase = "InProgress"
	RollingBack fsm.Phase = "RollingBack"
	Completed   fsm.Phase = "Completed"
	RolledBack  fsm.Phase = "RolledBack"
	Failed      fsm.Phase = "Failed"
)

// The events of an upgrade.
const (
	Reserved      fsm.Event = "Reserved"      // the cluster is reserved for the upgrade
	Refused       fsm.Event = "Refused"       // it cannot be done as it is asked for
	ClusterGone   fsm.Event = "ClusterGone"   // the cluster that was to be upgraded is gone
	Superseded    fsm.Event = "Superseded"    // a newer upgrade, or one of the same moment, has changed the cluster
	ChecksPassed  fsm.Event = "ChecksPassed"  // the cluster is whole
	ChecksFailed  fsm.Event = "ChecksFailed"  // it was not, for too long
	CaptureFailed fsm.Event = "CaptureFailed" // its volumes could not be captured
	AllCurrent    fsm.Event = "AllCurrent"    // every pod runs what is wanted
	NotWhole      fsm.Event = "NotWhole"      // every pod runs it, and the cluster did not become whole
	ShardFailed   fsm.Event = "ShardFailed"   // a shard could not be upgraded
	AllBack       fsm.Event = "AllBack"       // every pod runs again what it ran before
	NoWayBack     fsm.Event = "NoWayBack"     // a shard could not be brought back
	EffectRefused fsm.Event = "EffectRefused" // an effect was refused and would be again
)

// The reasons of an upgrade.
const (
	ReasonNotLooked          fsm.Reason = "NotLooked"          // what is needed was not read yet
	ReasonDeleting           fsm.Reason = "Deleting"           // the upgrade itself is being deleted
	ReasonNoCluster          fsm.Reason = "NoCluster"          // the cluster does not exist yet
	ReasonClusterPaused      fsm.Reason = "ClusterPaused"      // spec.paused of the cluster is set
	ReasonClusterDeleting    fsm.Reason = "ClusterDeleting"    // the cluster is being deleted
	ReasonReservedByOther    fsm.Reason = "ReservedByOther"    // another operation works on the cluster
	ReasonReserving          fsm.Reason = "Reserving"          // taking the cluster's reservation
	ReasonReserved           fsm.Reason = "Reserved"           // it is taken
	ReasonCaptureUnavailable fsm.Reason = "CaptureUnavailable" // spec.captureFirst is set, and there are no volumes to capture, or area capture is not installed
	ReasonCapturing          fsm.Reason = "Capturing"          // the primaries' volumes are being captured
	ReasonCaptureFailed      fsm.Reason = "CaptureFailed"      // a volume could not be captured; nothing was changed
	ReasonUnhealthy          fsm.Reason = "Unhealthy"          // the cluster must be whole to begin; the message says what is missing
	ReasonHealthy            fsm.Reason = "Healthy"            // it is
	ReasonShardsInTurn       fsm.Reason = "ShardsInTurn"       // the shards are at work
	ReasonAllCurrent         fsm.Reason = "AllCurrent"         // every pod runs what is wanted
	ReasonShardFailed        fsm.Reason = "ShardFailed"        // a shard could not be upgraded; the upgrade goes back
	ReasonRollingBack        fsm.Reason = "RollingBack"        // shards go back to what they had before
	ReasonRollbackImpossible fsm.Reason = "RollbackImpossible" // the former version cannot read what the new one has written
	ReasonRollbackFailed     fsm.Reason = "RollbackFailed"     // a shard did not come back on what it had before, either
)
