package cluster

import "github.com/statecraft-dev/statecraft/internal/fsm"

// The phases of a cluster.
const (
	Pending                fsm.Phase = "Pending"
	Creating               fsm.Phase = "Creating"
	WaitingForPods         fsm.Phase = "WaitingForPods"
	InitializingCluster    fsm.Phase = "InitializingCluster"
	AssigningSlots         fsm.Phase = "AssigningSlots"
	ConfiguringReplicas    fsm.Phase = "ConfiguringReplicas"
	VerifyingClusterHealth fsm.Phase = "VerifyingClusterHealth"
	Running                fsm.Phase = "Running"

	ScalingUpStatefulSet   fsm.Phase = "ScalingUpStatefulSet"
	WaitingForNewPods      fsm.Phase = "WaitingForNewPods"
	AddingNodesToCluster   fsm.Phase = "AddingNodesToCluster"
	RebalancingSlots       fsm.Phase = "RebalancingSlots"
	ConfiguringNewReplicas fsm.Phase = "ConfiguringNewReplicas"

	EvacuatingSlots          fsm.Phase = "EvacuatingSlots"
	RemovingNodesFromCluster fsm.Phase = "RemovingNodesFromCluster"
	ScalingDownStatefulSet   fsm.Phase = "ScalingDownStatefulSet"

	Degraded fsm.Phase = "Degraded"
	Failed   fsm.Phase = "Failed"
	Deleting fsm.Phase = "Deleting"
)

// The events of a cluster.
const (
	ResourcesApplied         fsm.Event = "ResourcesApplied"         // every child exists as it should and was seen by its controller
	StatefulSetReady         fsm.Event = "StatefulSetReady"         // the StatefulSets were seen by their controller
	PodsRunning              fsm.Event = "PodsRunning"              // every server answers
	ClusterMeetComplete      fsm.Event = "ClusterMeetComplete"      // every server knows every other
	SlotsAssigned            fsm.Event = "SlotsAssigned"            // every slot has an owner
	ReplicasConfigured       fsm.Event = "ReplicasConfigured"       // every replica follows its primary, and all agree on it
	ClusterHealthy           fsm.Event = "ClusterHealthy"           // nothing is missing
	ClusterFound             fsm.Event = "ClusterFound"             // a cluster that was formed before was found: its status was lost or reset
	ScaleUpDetected          fsm.Event = "ScaleUpDetected"          // more shards or replicas are wanted than there are
	ScaleDownDetected        fsm.Event = "ScaleDownDetected"        // fewer shards are
	ReplicaScaleDownDetected fsm.Event = "ReplicaScaleDownDetected" // fewer replicas are
	StatefulSetScaled        fsm.Event = "StatefulSetScaled"        // there are as many StatefulSets, and as wide, as are wanted
	NodesAdded               fsm.Event = "NodesAdded"               // new servers are known to all
	SlotsRebalanced          fsm.Event = "SlotsRebalanced"          // every shard has its share
	SlotsMigrated            fsm.Event = "SlotsMigrated"            // shards that are to go own nothing
	NodesRemoved             fsm.Event = "NodesRemoved"             // nobody knows the servers that are to go
	ReplicasDegraded         fsm.Event = "ReplicasDegraded"         // fewer nodes are ready than there should be
	ReconcileError           fsm.Event = "ReconcileError"           // it was refused, or not done in time
	DataLost                 fsm.Event = "DataLost"                 // a formed cluster came back with nothing but newborn servers
	SpecChanged              fsm.Event = "SpecChanged"              // the spec was changed, or what was made by it, before the cluster was formed
	RecoveryInitiated        fsm.Event = "RecoveryInitiated"        // what has failed is tried again
	DeletionRequested        fsm.Event = "DeletionRequested"        // a user deletes the cluster
)

// The reasons of a cluster.
const (
	ReasonNotLooked          fsm.Reason = "NotLooked"          // what is needed was not read yet
	ReasonPaused             fsm.Reason = "Paused"             // spec.paused is set
	ReasonReservedByOther    fsm.Reason = "ReservedByOther"    // another operation works on the cluster
	ReasonReserving          fsm.Reason = "Reserving"          // taking back the cluster's reservation
	ReasonSecretsForbidden   fsm.Reason = "SecretsForbidden"   // the manager may not read Secrets of the cluster's namespace
	ReasonCredentialsMissing fsm.Reason = "CredentialsMissing" // a Secret that the spec names is missing, or not as it should be
	ReasonNameTaken          fsm.Reason = "NameTaken"          // an object of another owner has the name of a child
	ReasonApplying           fsm.Reason = "Applying"           // children are being applied
	ReasonApplied            fsm.Reason = "Applied"            // they are
	ReasonEditUndone         fsm.Reason = "EditUndone"         // a person edited a child, which is now what it was; the event says which field
	ReasonNotObserved        fsm.Reason = "NotObserved"        // the StatefulSet controller has not seen a StatefulSet yet
	ReasonObserved           fsm.Reason = "Observed"           // it has
	ReasonPodsStarting       fsm.Reason = "PodsStarting"       // servers do not answer yet
	ReasonPodsFailing        fsm.Reason = "PodsFailing"        // a pod cannot start; the message says why
	ReasonPodsRunning        fsm.Reason = "PodsRunning"        // every server answers
	ReasonUnknownServer      fsm.Reason = "UnknownServer"      // a server is listed that no pod answers for
	ReasonHoldsData          fsm.Reason = "HoldsData"          // a server holds what creation must not touch
	ReasonNoCopy             fsm.Reason = "NoCopy"             // a replica that stays does not have all of its shard yet
	ReasonMeeting            fsm.Reason = "Meeting"            // servers are being introduced to each other
	ReasonMet                fsm.Reason = "Met"                // every server knows every other
	ReasonAssigning          fsm.Reason = "Assigning"          // slots are being given to primaries
	ReasonAssigned           fsm.Reason = "Assigned"           // every slot has an owner
	ReasonReplicating        fsm.Reason = "Replicating"        // replicas are being attached, and all come to know it
	ReasonReplicated         fsm.Reason = "Replicated"         // every replica is in sync, and all agree on it
	ReasonVerifying          fsm.Reason = "Verifying"          // something is still missing; the message says what
	ReasonFormedBefore       fsm.Reason = "FormedBefore"       // the ConfigMap says that the cluster was formed
	ReasonClusterHealthy     fsm.Reason = "ClusterHealthy"     // all nodes are ready and agree, all slots are served
	ReasonChangeNotApplied   fsm.Reason = "ChangeNotApplied"   // healthy, and the spec asks for what an upgrade has still to do, or could not
	ReasonUpgrading          fsm.Reason = "Upgrading"          // an upgrade works on the cluster
	ReasonUpgradeAbandoned   fsm.Reason = "UpgradeAbandoned"   // shards run different templates, and no upgrade is there to end it
	ReasonApplyingAccess     fsm.Reason = "ApplyingAccess"     // servers are being told of changed passwords and certificates
	ReasonAccessApplied      fsm.Reason = "AccessApplied"      // they have them
	ReasonApplyingConfig     fsm.Reason = "ApplyingConfig"     // servers are being told of changed settings
	ReasonConfigApplied      fsm.Reason = "ConfigApplied"      // they have them
	ReasonConfigRefused      fsm.Reason = "ConfigRefused"      // a server does not take a setting; the message is its own
	ReasonNodesMissing       fsm.Reason = "NodesMissing"       // a node is not ready or out of reach
	ReasonMajorityLost       fsm.Reason = "MajorityLost"       // so many primaries do not answer that no replica can be elected; the message has the way out
	ReasonAdjustingBudget    fsm.Reason = "AdjustingBudget"    // the disruption budget is closed or opened, as copies come and go
	ReasonRepairing          fsm.Reason = "Repairing"          // pods that cannot run are replaced by what the edited spec asks for
	ReasonHealing            fsm.Reason = "Healing"            // servers that were lost or moved are being brought back
	ReasonNotApproved        fsm.Reason = "NotApproved"        // a person must approve status.plan
	ReasonSpreading          fsm.Reason = "Spreading"          // a replica takes over because one machine has most of the primaries
	ReasonScaling            fsm.Reason = "Scaling"            // the spec asks for another number of shards or replicas
	ReasonOldClaims          fsm.Reason = "OldClaims"          // volumes of removed servers are deleted before others take their place
	ReasonCannotWrite        fsm.Reason = "CannotWrite"        // a server fails to write to its volume, which may be full
	ReasonMoving             fsm.Reason = "Moving"             // slots are being moved
	ReasonBalanced           fsm.Reason = "Balanced"           // every slot is where it should be
	ReasonSlotsLost          fsm.Reason = "SlotsLost"          // a slot has no owner, or two
	ReasonTooLittleMemory    fsm.Reason = "TooLittleMemory"    // fewer shards could not hold what all hold
	ReasonNoCandidate        fsm.Reason = "NoCandidate"        // no replica can take over yet; the message says why
	ReasonFailingOver        fsm.Reason = "FailingOver"        // a replica takes over
	ReasonForgetting         fsm.Reason = "Forgetting"         // servers that go are being forgotten
	ReasonForgotten          fsm.Reason = "Forgotten"          // they are
	ReasonShrinking          fsm.Reason = "Shrinking"          // StatefulSets that are not wanted any more are removed or made narrower
	ReasonRecovering         fsm.Reason = "Recovering"         // trying again
	ReasonUnfinished         fsm.Reason = "Unfinished"         // it was not done in time
	ReasonDataLost           fsm.Reason = "DataLost"           // the data of a formed cluster is gone
	ReasonUpToDate           fsm.Reason = "UpToDate"           // servers run with what this version of the operator makes of the spec
	ReasonRestarting         fsm.Reason = "Restarting"         // an upgrade brings servers to what this version of the operator makes of the same spec
	ReasonRestartHeld        fsm.Reason = "RestartHeld"        // that restart waits for the cluster itself; the message says for what
	ReasonOutsideWindow      fsm.Reason = "OutsideWindow"      // that restart waits for a window of spec.maintenance
	ReasonAwaitingTurn       fsm.Reason = "AwaitingTurn"       // that restart waits for those of other clusters
	ReasonRestartFailed      fsm.Reason = "RestartFailed"      // that restart has failed; a person must look at its ValkeyUpgrade
	ReasonRestartsStopped    fsm.Reason = "RestartsStopped"    // that restart waits, because the one of another cluster has failed
	ReasonDeleting           fsm.Reason = "Deleting"           // garbage collection takes the children
)
