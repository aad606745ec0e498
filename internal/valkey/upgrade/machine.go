package upgrade

import (
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// checksTimeout is how long the cluster may take to become whole: while it does not,
// the reservation keeps others from it.
const checksTimeout = 10 * time.Minute

type input = fsm.Input[*valkeyv1.ValkeyUpgrade, World]

const statusLost = "The status of this upgrade was lost after it had begun, or a newer upgrade has changed the cluster; it is never begun " +
	"again: look at what the pods run, and create another upgrade."

// say is a guard that has one thing to say.
func say(words string) func(input) string { return func(input) string { return words } }

// Machine is the whole procedure.
var Machine = fsm.Machine[*valkeyv1.ValkeyUpgrade, World]{
	Kind:    "ValkeyUpgrade",
	OneShot: true,
	Lost:    lost,
	Reflex:  keepReservation,
	Report:  report,
	Wakes: []fsm.Wake{
		{Name: "cluster", By: fsm.ByWatch},
		{Name: "pods", By: fsm.ByWatch},
		{Name: "children", By: fsm.ByWatch},
		{Name: "valkey", By: fsm.ByTimer, Every: recheck},
		{Name: "captures", By: fsm.ByTimer, Every: recheck},
		reserve.Wake,
	},
	LostMessage: statusLost,
	Lanes: &fsm.Lanes[*valkeyv1.ValkeyUpgrade, World]{
		Rules: shardRules,
		In:    []fsm.Phase{InProgress, RollingBack},
		Want:  lanes,
		At:    placeOf,
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Groups: []fsm.Group{
			{Name: "Working", Phases: []fsm.Phase{Pending, PreChecks, InProgress, RollingBack}},
			{Name: "Nothing changed yet", Phases: []fsm.Phase{Pending, PreChecks}},
		},
		Guards: []fsm.Guard[input]{
			{On: ClusterGone, To: Failed, When: clusterGone, Say: say("The cluster that was to be upgraded is gone.")},
			{On: fsm.Lost, To: Failed, In: []fsm.Phase{Pending, PreChecks}, When: hasBegun, Say: say(statusLost)},
			{On: Superseded, To: Failed, In: []fsm.Phase{Pending, PreChecks}, When: isSuperseded,
				Say: say("Another upgrade that is not older has changed the cluster meanwhile; create another one if this is still wanted.")},
		},
		Holds: []fsm.Hold[input]{
			{Reason: ReasonDeleting, When: beingDeleted, Wake: "self"},
			{Reason: ReasonClusterDeleting, When: deleting, Wake: "cluster"},
			{Reason: ReasonClusterPaused, When: paused, Wake: "cluster"},
			{Reason: ReasonReservedByOther, In: []fsm.Phase{PreChecks, InProgress, RollingBack}, When: reservedByOther, Wake: reserve.Wake.Name},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Waiting for the cluster, and taking its reservation.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Reserved: PreChecks, Refused: Failed, EffectRefused: Failed},
				Fail:   map[fsm.ErrorClass]fsm.Event{fsm.Refused: EffectRefused},
			},
			PreChecks: {
				Doc:    "Checking that the cluster is whole: every server answers, is in sync and agrees with all others. Then its volumes are captured, if that is asked for.",
				Class:  fsm.Working,
				Decide: decidePreChecks,
				On:     map[fsm.Event]fsm.Phase{ChecksPassed: InProgress, ChecksFailed: Failed, CaptureFailed: Failed, EffectRefused: Failed},
				Until:  checkedUntil,
				Fail:   map[fsm.ErrorClass]fsm.Event{fsm.Refused: EffectRefused},
				Late:   ChecksFailed,
			},
			InProgress: {
				Doc:    "Shards are upgraded one after the other.",
				Class:  fsm.Working,
				Decide: decideInProgress,
				On:     map[fsm.Event]fsm.Phase{AllCurrent: Completed, ShardFailed: RollingBack, NotWhole: Failed},
			},
			RollingBack: {
				Doc:    "Shards that were changed go back to what they had before, the last one first.",
				Class:  fsm.Working,
				Decide: decideRollingBack,
				On:     map[fsm.Event]fsm.Phase{AllBack: RolledBack, NoWayBack: Failed},
			},
			Completed:  {Doc: "Every pod runs what is wanted.", Class: fsm.Done},
			RolledBack: {Doc: "The upgrade was given up; every pod runs again what it ran before.", Class: fsm.Failed},
			Failed:     {Doc: "The upgrade was given up; the reason says what to do.", Class: fsm.Failed},
		},
	},
}
