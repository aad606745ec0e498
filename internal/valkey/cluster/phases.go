package cluster

import (
	"slices"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

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
	DeletionRequested        fsm.Event = "DeletionRequested"        // somebody deletes the cluster
)

// The reasons of a cluster.
const (
	ReasonNotLooked        fsm.Reason = "NotLooked"        // what is needed was not read yet
	ReasonPaused           fsm.Reason = "Paused"           // spec.paused is set
	ReasonReservedByOther  fsm.Reason = "ReservedByOther"  // another operation works on the cluster
	ReasonReserving        fsm.Reason = "Reserving"        // taking back the cluster's reservation
	ReasonNameTaken        fsm.Reason = "NameTaken"        // somebody else's object has the name of a child
	ReasonApplying         fsm.Reason = "Applying"         // children are being applied
	ReasonApplied          fsm.Reason = "Applied"          // they are
	ReasonNotObserved      fsm.Reason = "NotObserved"      // the StatefulSet controller has not seen a StatefulSet yet
	ReasonObserved         fsm.Reason = "Observed"         // it has
	ReasonPodsStarting     fsm.Reason = "PodsStarting"     // servers do not answer yet
	ReasonPodsFailing      fsm.Reason = "PodsFailing"      // a pod cannot start; the message says why
	ReasonPodsRunning      fsm.Reason = "PodsRunning"      // every server answers
	ReasonUnknownServer    fsm.Reason = "UnknownServer"    // a server is listed that no pod answers for
	ReasonHoldsData        fsm.Reason = "HoldsData"        // a server holds what creation must not touch
	ReasonMeeting          fsm.Reason = "Meeting"          // servers are being introduced to each other
	ReasonMet              fsm.Reason = "Met"              // every server knows every other
	ReasonAssigning        fsm.Reason = "Assigning"        // slots are being given to primaries
	ReasonAssigned         fsm.Reason = "Assigned"         // every slot has an owner
	ReasonReplicating      fsm.Reason = "Replicating"      // replicas are being attached, and all come to know it
	ReasonReplicated       fsm.Reason = "Replicated"       // every replica is in sync, and all agree on it
	ReasonVerifying        fsm.Reason = "Verifying"        // something is still missing; the message says what
	ReasonFormedBefore     fsm.Reason = "FormedBefore"     // the ConfigMap says that the cluster was formed
	ReasonClusterHealthy   fsm.Reason = "ClusterHealthy"   // all nodes are ready and agree, all slots are served
	ReasonChangeNotApplied fsm.Reason = "ChangeNotApplied" // healthy, and the spec asks for what this version cannot change
	ReasonNodesMissing     fsm.Reason = "NodesMissing"     // a node is not ready or out of reach
	ReasonHealing          fsm.Reason = "Healing"          // servers that were lost or moved are being brought back
	ReasonScaling          fsm.Reason = "Scaling"          // the spec asks for another number of shards or replicas
	ReasonMoving           fsm.Reason = "Moving"           // slots are being moved
	ReasonBalanced         fsm.Reason = "Balanced"         // every slot is where it should be
	ReasonSlotsLost        fsm.Reason = "SlotsLost"        // a slot has no owner, or two
	ReasonNoHeir           fsm.Reason = "NoHeir"           // no replica can take over yet; the message says why
	ReasonFailingOver      fsm.Reason = "FailingOver"      // a replica takes over
	ReasonForgetting       fsm.Reason = "Forgetting"       // servers that go are being forgotten
	ReasonForgotten        fsm.Reason = "Forgotten"        // they are
	ReasonShrinking        fsm.Reason = "Shrinking"        // StatefulSets that are not wanted any more are removed or made narrower
	ReasonRecovering       fsm.Reason = "Recovering"       // trying again
	ReasonUnfinished       fsm.Reason = "Unfinished"       // it was not done in time
	ReasonDataLost         fsm.Reason = "DataLost"         // the data of a formed cluster is gone
	ReasonDeleting         fsm.Reason = "Deleting"         // garbage collection takes the children
)

const (
	applyTimeout  = 5 * time.Minute
	podTimeout    = 10 * time.Minute
	formTimeout   = 5 * time.Minute
	verifyTimeout = 5 * time.Minute
)

type input = fsm.Input[*valkeyv1.ValkeyCluster, World]

// making are the phases that make a cluster, and so need its reservation.
var making = []fsm.Phase{Pending, Creating, WaitingForPods, InitializingCluster, AssigningSlots, ConfiguringReplicas}

// growing and shrinking are the phases that change the size of a cluster that stands;
// they need its reservation, too.
var (
	growing   = []fsm.Phase{ScalingUpStatefulSet, WaitingForNewPods, AddingNodesToCluster, RebalancingSlots, ConfiguringNewReplicas}
	shrinking = []fsm.Phase{EvacuatingSlots, RemovingNodesFromCluster, ScalingDownStatefulSet}
	scaling   = slices.Concat(growing, shrinking)
	reserving = slices.Concat(making, scaling)
)

// alive are the phases in which the loss of all data can show.
var alive = slices.Concat([]fsm.Phase{VerifyingClusterHealth, Running, Degraded}, making, scaling)

// refused lets an effect that would be refused again end the phase.
var refused = map[fsm.ErrorClass]fsm.Event{fsm.Refused: ReconcileError}

// Machine is the life of a cluster.
var Machine = fsm.Machine[*valkeyv1.ValkeyCluster, World]{
	Kind:       "ValkeyCluster",
	Reflex:     reflex,
	Conditions: conditions,
	Report:     report,
	Rules: fsm.Rules[input]{
		Start: Pending,
		Guards: []fsm.Guard[input]{
			{On: DeletionRequested, To: Deleting, When: func(in input) bool { return in.Obj.DeletionTimestamp != nil }},
			{On: DataLost, To: Failed, In: alive, When: func(in input) bool { return in.World.dataLost() }},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Failed}, When: specChanged},
			{On: ScaleUpDetected, To: ScalingUpStatefulSet, In: growing[1:], When: grows},
			{On: ScaleUpDetected, To: ScalingUpStatefulSet, In: shrinking[:2], When: wantedBack},
			{On: ScaleDownDetected, To: EvacuatingSlots, In: growing, When: notWanted},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Creating, WaitingForPods}, When: childrenChanged},
		},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonPaused, In: reserving, When: paused, Wake: "self"},
			{Reason: ReasonReservedByOther, In: reserving, When: reservedByOther, Wake: "reservations"},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Taking the cluster's reservation and applying its children.",
				Class:  fsm.Working,
				Decide: decidePending,
				On: map[fsm.Event]fsm.Phase{ResourcesApplied: Creating, ClusterFound: VerifyingClusterHealth,
					ReconcileError: Failed},
				Within: applyTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			Creating: {
				Doc:    "Checking that the StatefulSet controller has seen every StatefulSet.",
				Class:  fsm.Working,
				Decide: decideCreating,
				On:     map[fsm.Event]fsm.Phase{StatefulSetReady: WaitingForPods, ReconcileError: Failed},
				Within: applyTimeout,
				Late:   ReconcileError,
			},
			WaitingForPods: {
				Doc:    "Waiting until every server answers; pods that cannot start and are outdated are replaced.",
				Class:  fsm.Working,
				Decide: decideWaitingForPods,
				On:     map[fsm.Event]fsm.Phase{PodsRunning: InitializingCluster, ReconcileError: Failed},
				Within: podTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			InitializingCluster: {
				Doc:    "Introducing the servers to each other.",
				Class:  fsm.Working,
				Decide: decideInitializingCluster,
				On:     map[fsm.Event]fsm.Phase{ClusterMeetComplete: AssigningSlots, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			AssigningSlots: {
				Doc:    "Giving each shard its share of the slots.",
				Class:  fsm.Working,
				Decide: decideAssigningSlots,
				On:     map[fsm.Event]fsm.Phase{SlotsAssigned: ConfiguringReplicas, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			ConfiguringReplicas: {
				Doc:    "Attaching replicas to the primary of their shard, until all agree on it.",
				Class:  fsm.Working,
				Decide: decideConfiguringReplicas,
				On:     map[fsm.Event]fsm.Phase{ReplicasConfigured: VerifyingClusterHealth, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			VerifyingClusterHealth: {
				Doc:    "Checking that every node is ready and all agree on a cluster that serves every slot.",
				Class:  fsm.Working,
				Decide: decideVerifyingClusterHealth,
				On:     map[fsm.Event]fsm.Phase{ClusterHealthy: Running, ReplicasDegraded: Degraded},
				Within: verifyTimeout,
				Late:   ReplicasDegraded,
			},
			Running: {
				Doc:    "Healthy. Lost Services, configuration and StatefulSets are made anew.",
				Class:  fsm.Steady,
				Decide: decideRunning,
				On: map[fsm.Event]fsm.Phase{ReplicasDegraded: Degraded, ScaleUpDetected: ScalingUpStatefulSet,
					ScaleDownDetected: EvacuatingSlots, ReplicaScaleDownDetected: RemovingNodesFromCluster},
			},
			ScalingUpStatefulSet: {
				Doc:    "Making the StatefulSets of new shards, and widening others.",
				Class:  fsm.Working,
				Decide: operating(decideScalingUpStatefulSet),
				On:     map[fsm.Event]fsm.Phase{StatefulSetScaled: WaitingForNewPods, ReconcileError: Failed},
				Within: applyTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			WaitingForNewPods: {
				Doc:    "Waiting until every server answers, the new ones, too.",
				Class:  fsm.Working,
				Decide: operating(decideWaitingForNewPods),
				On:     map[fsm.Event]fsm.Phase{PodsRunning: AddingNodesToCluster, ReconcileError: Failed},
				Within: podTimeout,
				Late:   ReconcileError,
			},
			AddingNodesToCluster: {
				Doc:    "Introducing the new servers to the others.",
				Class:  fsm.Working,
				Decide: operating(decideAddingNodesToCluster),
				On:     map[fsm.Event]fsm.Phase{NodesAdded: RebalancingSlots, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			RebalancingSlots: {
				Doc:    "Attaching the replicas of new shards, and then moving slots until every shard has its share.",
				Class:  fsm.Working,
				Decide: operating(decideRebalancingSlots),
				On:     map[fsm.Event]fsm.Phase{SlotsRebalanced: ConfiguringNewReplicas},
			},
			ConfiguringNewReplicas: {
				Doc:    "Attaching new replicas to the primary of their shard, until all agree on it.",
				Class:  fsm.Working,
				Decide: operating(decideConfiguringNewReplicas),
				On:     map[fsm.Event]fsm.Phase{ReplicasConfigured: VerifyingClusterHealth, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			EvacuatingSlots: {
				Doc:    "Moving the slots of shards that are to go to those that stay.",
				Class:  fsm.Working,
				Decide: operating(decideEvacuatingSlots),
				On:     map[fsm.Event]fsm.Phase{SlotsMigrated: RemovingNodesFromCluster},
			},
			RemovingNodesFromCluster: {
				Doc:    "Letting the servers that are to go, and then those that stay, forget each other.",
				Class:  fsm.Working,
				Decide: operating(decideRemovingNodesFromCluster),
				On:     map[fsm.Event]fsm.Phase{NodesRemoved: ScalingDownStatefulSet, ReconcileError: Failed},
				Within: formTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			ScalingDownStatefulSet: {
				Doc:    "Removing the StatefulSets of shards that are gone, and the last pods of others.",
				Class:  fsm.Working,
				Decide: operating(decideScalingDownStatefulSet),
				On:     map[fsm.Event]fsm.Phase{StatefulSetScaled: VerifyingClusterHealth, ReconcileError: Failed},
				Within: applyTimeout,
				Late:   ReconcileError,
				Fail:   refused,
			},
			Degraded: {
				Doc:    "Standing with less than it should have; what is lost of its children is made anew.",
				Class:  fsm.Degraded,
				Decide: decideDegraded,
				On: map[fsm.Event]fsm.Phase{ClusterHealthy: Running, ScaleUpDetected: ScalingUpStatefulSet,
					ScaleDownDetected: EvacuatingSlots, ReplicaScaleDownDetected: RemovingNodesFromCluster},
			},
			Failed: {
				Doc:    "Not made, or its data is lost. It is tried again, ever less often, unless data was lost.",
				Class:  fsm.Failed,
				Decide: decideFailed,
				On:     map[fsm.Event]fsm.Phase{RecoveryInitiated: Pending},
			},
			Deleting: {
				Doc:    "Going, and its children with it.",
				Class:  fsm.Working,
				Decide: func(input) fsm.Decision { return fsm.Wait(ReasonDeleting, "children") },
			},
		},
	},
}
