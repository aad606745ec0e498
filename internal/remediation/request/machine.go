package request

import (
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

type input = fsm.Input[*remediationv1.RemediationRequest, World]

// Machine is the whole of a request.
//
// API writes of a request of n steps on n targets: status for the targets, on entering executing, and at the end (3); the
// Leases (n) and the mark (1); and for each step the execution, and the status when its try begins, with the UID of the
// execution, when it is made, and with its result (4n). The status at the end of one step begins the next.
var Machine = fsm.Machine[*remediationv1.RemediationRequest, World]{
	Kind:    "RemediationRequest",
	OneShot: true,
	Lost:    lost, LostMessage: "The status was lost after the request had begun; no step begins any more, and only what the executions say is known.",
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "children", By: fsm.ByWatch},
		{Name: "gates", By: fsm.ByTimer, Every: gatesEvery},
		reserve.Wake,
	},
	Lanes: &fsm.Lanes[*remediationv1.RemediationRequest, World]{
		Rules: stepRules,
		In:    []fsm.Phase{Executing, RollingBack},
		Want:  lanes,
		At:    placeOf,
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Guards: []fsm.Guard[input]{
			{On: Cancelled, To: Failed, In: []fsm.Phase{Pending}, When: isCancelled, Say: saysCancelled},
			{On: IdentityUnproven, To: Failed, In: []fsm.Phase{Pending}, When: isUnproven, Say: saysUnproven},
		},
		Holds: []fsm.Hold[input]{
			pendingGate(ReasonPoliciesMissing, func(in input) (string, bool) { return in.World.Gates.Policies, in.World.Gates.Policies != "" }),
			pendingGate(ReasonWrongIdentity, func(in input) (string, bool) { return in.World.Gates.Identity, in.World.Gates.Identity != "" }),
			{Reason: ReasonPaused, In: []fsm.Phase{Pending}, When: isPaused, Wake: "self", ClockRuns: true},
			{Reason: ReasonReservedByOther, In: []fsm.Phase{Pending}, When: isReservedByOther, Wake: reserve.Wake.Name, ClockRuns: true},
		},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Looking at the targets of all steps, and reserving them one after another.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Admitted: Executing, Refused: Failed, Late: Failed},
				Until:  beginBy,
				Late:   Late,
			},
			// NOTE: no guard or deadline of the kernel leaves executing and rolling_back: the execution that runs must end
			// first, or it would go on after the request has ended.
			Executing: {
				Doc:    "Carrying out the steps, one after another, each by an execution of its own.",
				Class:  fsm.Working,
				Decide: decideExecuting,
				On: map[fsm.Event]fsm.Phase{StepsDone: Completed, StepHasFailed: Failed, StepHasFailedRollsBack: RollingBack,
					Cancelled: Failed, StatusLost: Failed},
			},
			RollingBack: {
				Doc:    "Taking back what was done, the last step first, each by an execution of its own.",
				Class:  fsm.Working,
				Decide: decideRollingBack,
				On:     map[fsm.Event]fsm.Phase{InversesDone: RolledBack, RollbackHasFailed: Failed},
			},
			Completed: {Doc: "Every step was carried out.", Class: fsm.Done},
			// A request that was rolled back did not reach what was asked for. If it read Ready, or Current to kstatus, a pipeline
			// that waits for it would go on as if it had.
			RolledBack: {Doc: "A step failed, and everything that was done before is taken back.", Class: fsm.Failed},
			Failed:     {Doc: "The reason says why, and status.steps what is known of each step.", Class: fsm.Failed},
		},
	},
}

const (
	// gatesEvery is how soon a gate is looked at again: no event tells that it has opened.
	gatesEvery = 5 * time.Second
	// lookAgain is how soon a look that did not succeed is repeated.
	lookAgain = 2 * time.Second
)

// pendingGate is a hold that keeps a request from reserving anything.
func pendingGate(reason fsm.Reason, closed func(input) (string, bool)) fsm.Hold[input] {
	return fsm.Hold[input]{Reason: reason, In: []fsm.Phase{Pending}, When: closed, Wake: "gates", ClockRuns: true}
}
