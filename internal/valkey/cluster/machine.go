package cluster

import (
	"slices"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
)

const (
	applyTimeout  = 5 * time.Minute
	podTimeout    = 10 * time.Minute
	formTimeout   = 5 * time.Minute
	verifyTimeout = 5 * time.Minute
	// copyTimeout is for copies of whole shards, which take as long as they take. What is
	// wrong with one is said meanwhile.
	copyTimeout = 24 * time.Hour
	// handOverTakes is for one shard that is handed over before the server that had it goes.
	handOverTakes = 15 * time.Second
)

// replicatedBy is when replicas should follow: newborn ones have nothing to copy.
func replicatedBy(in input) time.Time {
	if holdsKeys(in.World.Nodes) {
		return in.Now.Add(copyTimeout)
	}
	return in.Now.Add(formTimeout)
}

// forgottenBy is when servers that go should be gone: shards are handed over one after the other, and
// those that stay may have to copy theirs first.
func forgottenBy(in input) time.Time {
	if plan.WhoIsBehind(in.World.Nodes, leaving(in), lag) != "" {
		return in.Now.Add(copyTimeout)
	}
	return in.Now.Add(formTimeout + time.Duration(len(in.World.Shape))*handOverTakes)
}

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
	Evident:    []string{valkeyv1.Available},
	Report:     report,
	Wakes: []fsm.Wake{
		{Name: "pods", By: fsm.ByWatch},
		{Name: "children", By: fsm.ByWatch},
		{Name: "upgrades", By: fsm.ByWatch},
		{Name: "valkey", By: fsm.BySampler},
		{Name: "work", By: fsm.ByWorker},
		reserve.Wake,
		TurnWake,
		windowWake,
	},
	Rules: fsm.Rules[input]{
		Start:  Pending,
		Groups: groups,
		Guards: []fsm.Guard[input]{
			{On: DeletionRequested, To: Deleting, When: func(in input) bool { return in.Obj.DeletionTimestamp != nil }},
			{On: DataLost, To: Failed, In: alive, When: func(in input) bool { return in.World.dataLost() }},
			// Before the reflex: while that heals, the cluster is not called Running.
			{On: ReplicasDegraded, To: Degraded, In: []fsm.Phase{Running}, When: lacksSomething, Say: whatItLacks},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Failed}, When: specChanged},
			{On: ScaleUpDetected, To: ScalingUpStatefulSet, In: growing[1:], When: grows},
			{On: ScaleUpDetected, To: ScalingUpStatefulSet, In: shrinking[:2], When: wantedBack},
			{On: ScaleDownDetected, To: EvacuatingSlots, In: growing, When: notWanted},
			{On: ScaleDownDetected, To: EvacuatingSlots, In: shrinking[1:], When: slotsOnWrongShard},
			{On: SpecChanged, To: Pending, In: []fsm.Phase{Creating, WaitingForPods}, When: childrenChanged},
		},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonPaused, In: reserving, When: paused, Wake: "self"},
			{Reason: ReasonReservedByOther, In: reserving, When: reservedByOther, Wake: reserve.Wake.Name},
			{Reason: ReasonNotApproved, In: scaling, When: notApproved, Wake: "self"},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Taking the cluster's reservation and applying its children.",
				Class:  fsm.Working,
				Decide: decidePending,
				On: map[fsm.Event]fsm.Phase{ResourcesApplied: Creating, ClusterFound: VerifyingClusterHealth,
					ReconcileError: Failed},
				Within:     applyTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			Creating: {
				Doc:        "Checking that the StatefulSet controller has seen every StatefulSet.",
				Class:      fsm.Working,
				Decide:     decideCreating,
				On:         map[fsm.Event]fsm.Phase{StatefulSetReady: WaitingForPods, ReconcileError: Failed},
				Within:     applyTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
			},
			WaitingForPods: {
				Doc:        "Waiting until every server answers; pods that cannot start and are outdated are replaced.",
				Class:      fsm.Working,
				Decide:     decideWaitingForPods,
				On:         map[fsm.Event]fsm.Phase{PodsRunning: InitializingCluster, ReconcileError: Failed},
				Within:     podTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			InitializingCluster: {
				Doc:        "Introducing the servers to each other.",
				Class:      fsm.Working,
				Decide:     decideInitializingCluster,
				On:         map[fsm.Event]fsm.Phase{ClusterMeetComplete: AssigningSlots, ReconcileError: Failed},
				Within:     formTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			AssigningSlots: {
				Doc:        "Giving each shard its share of the slots.",
				Class:      fsm.Working,
				Decide:     decideAssigningSlots,
				On:         map[fsm.Event]fsm.Phase{SlotsAssigned: ConfiguringReplicas, ReconcileError: Failed},
				Within:     formTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			ConfiguringReplicas: {
				Doc:        "Attaching replicas to the primary of their shard, until all agree on it.",
				Class:      fsm.Working,
				Decide:     decideConfiguringReplicas,
				On:         map[fsm.Event]fsm.Phase{ReplicasConfigured: VerifyingClusterHealth, ReconcileError: Failed},
				Until:      replicatedBy,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
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
				On: map[fsm.Event]fsm.Phase{ScaleUpDetected: ScalingUpStatefulSet,
					ScaleDownDetected: EvacuatingSlots, ReplicaScaleDownDetected: RemovingNodesFromCluster},
			},
			ScalingUpStatefulSet: {
				Doc:        "Making the StatefulSets of new shards, and widening others.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideScalingUpStatefulSet),
				On:         map[fsm.Event]fsm.Phase{StatefulSetScaled: WaitingForNewPods, ReconcileError: Failed},
				Within:     applyTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			WaitingForNewPods: {
				Doc:        "Waiting until every server answers, the new ones, too.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideWaitingForNewPods),
				On:         map[fsm.Event]fsm.Phase{PodsRunning: AddingNodesToCluster, ReconcileError: Failed},
				Within:     podTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
			},
			AddingNodesToCluster: {
				Doc:        "Introducing the new servers to the others.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideAddingNodesToCluster),
				On:         map[fsm.Event]fsm.Phase{NodesAdded: RebalancingSlots, ReconcileError: Failed},
				Within:     formTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			RebalancingSlots: {
				Doc:    "Attaching the replicas of new shards, and then moving slots until every shard has its share.",
				Class:  fsm.Working,
				Decide: whenReserved(decideRebalancingSlots),
				On:     map[fsm.Event]fsm.Phase{SlotsRebalanced: ConfiguringNewReplicas},
			},
			ConfiguringNewReplicas: {
				Doc:        "Attaching new replicas to the primary of their shard, until all agree on it.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideConfiguringNewReplicas),
				On:         map[fsm.Event]fsm.Phase{ReplicasConfigured: VerifyingClusterHealth, ReconcileError: Failed},
				Within:     copyTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			EvacuatingSlots: {
				Doc:    "Moving the slots of shards that are to go to those that stay.",
				Class:  fsm.Working,
				Decide: whenReserved(decideEvacuatingSlots),
				On:     map[fsm.Event]fsm.Phase{SlotsMigrated: RemovingNodesFromCluster},
			},
			RemovingNodesFromCluster: {
				Doc:        "Letting those that stay forget the servers that are to go.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideRemovingNodesFromCluster),
				On:         map[fsm.Event]fsm.Phase{NodesRemoved: ScalingDownStatefulSet, ReconcileError: Failed},
				Until:      forgottenBy,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
			},
			ScalingDownStatefulSet: {
				Doc:        "Removing the StatefulSets of shards that are gone, and the last pods of others.",
				Class:      fsm.Working,
				Decide:     whenReserved(decideScalingDownStatefulSet),
				On:         map[fsm.Event]fsm.Phase{StatefulSetScaled: VerifyingClusterHealth, ReconcileError: Failed},
				Within:     applyTimeout,
				Late:       ReconcileError,
				LateReason: fsm.Awaited,
				Fail:       refused,
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
				Doc:   "Going, and its children with it.",
				Class: fsm.Working,
				Decide: func(input) fsm.Decision {
					return fsm.Wait(ReasonDeleting, "children").Because("Waiting for Kubernetes to delete the cluster's children.")
				},
			},
		},
	},
}
