package cluster

import (
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
	Degraded               fsm.Phase = "Degraded"
	Failed                 fsm.Phase = "Failed"
	Deleting               fsm.Phase = "Deleting"
)

// The events of a cluster.
const (
	ResourcesApplied    fsm.Event = "ResourcesApplied"    // every child exists as it should and was seen by its controller
	StatefulSetReady    fsm.Event = "StatefulSetReady"    // the StatefulSets were seen by their controller
	PodsRunning         fsm.Event = "PodsRunning"         // every server answers
	ClusterMeetComplete fsm.Event = "ClusterMeetComplete" // every server knows every other
	SlotsAssigned       fsm.Event = "SlotsAssigned"       // every slot has an owner
	ReplicasConfigured  fsm.Event = "ReplicasConfigured"  // every replica follows its primary, and all agree on it
	ClusterHealthy      fsm.Event = "ClusterHealthy"      // nothing is missing
	ClusterFound        fsm.Event = "ClusterFound"        // a cluster that was formed before was found: its status was lost or reset
	ReplicasDegraded    fsm.Event = "ReplicasDegraded"    // fewer nodes are ready than there should be
	ReconcileError      fsm.Event = "ReconcileError"      // it was refused, or not done in time
	DataLost            fsm.Event = "DataLost"            // a formed cluster came back with nothing but newborn servers
	SpecChanged         fsm.Event = "SpecChanged"         // the spec was changed, or what was made by it, before the cluster was formed
	RecoveryInitiated   fsm.Event = "RecoveryInitiated"   // what has failed is tried again
	DeletionRequested   fsm.Event = "DeletionRequested"   // somebody deletes the cluster
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

// alive are the phases in which the loss of all data can show.
var alive = append([]fsm.Phase{VerifyingClusterHealth, Running, Degraded}, making...)

// refused lets an effect that would be refused again end the phase.
var refused = map[fsm.ErrorClass]fsm.Event{fsm.Refused: ReconcileError}

// Machine is the life of a cluster.
var Machine = fsm.Machine[*valkeyv1.ValkeyCluster, World]{
	Kind:       "ValkeyCluster",
	Reflex:     keepReservation,
	Conditions: conditions,
	Report:     report,
	Rules: fsm.Rules[input]{
		Start: Pending,
		Guards: []fsm.Guard[input]{
			{On: DeletionRequested, To: Deleting, When: func(in input) bool { return in.Obj.DeletionTimestamp != nil }},
			{On: DataLost, To: Failed, In: alive, When: func(in input) bool { return in.World.dataLost() }},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Failed}, When: specChanged},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Creating, WaitingForPods}, When: childrenChanged},
		},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonPaused, In: making, When: paused, Wake: "self"},
			{Reason: ReasonReservedByOther, In: making, When: reservedByOther, Wake: "reservations"},
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
				On:     map[fsm.Event]fsm.Phase{ReplicasDegraded: Degraded},
			},
			Degraded: {
				Doc:    "Standing with less than it should have; what is lost of its children is made anew.",
				Class:  fsm.Degraded,
				Decide: decideDegraded,
				On:     map[fsm.Event]fsm.Phase{ClusterHealthy: Running},
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
