package execution

import (
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

type input = fsm.Input[*remediationv1.KubernetesExecution, World]

// Machine is the whole of an execution.
//
// API writes of an execution without approval: status when it is seen, with the plan, when the target is
// reserved, on entering executing, with the state before, with the Job's UID, when the Job is released,
// with its result, and at the end (9); the mark, the Lease, the Job and its release (4); and the finalizer
// of its pod (1). An approval adds the status on entering waiting_approval, a first execution the account
// and its binding, an audit database the status with the record of the intent, and a pod that does not
// start at once the status that says why.
var Machine = fsm.Machine[*remediationv1.KubernetesExecution, World]{
	Kind:    "KubernetesExecution",
	OneShot: true,
	Lost:    lost, LostMessage: "The status was lost after the execution had begun; only what witnesses say is known.",
	Reflex: keepReservation,
	Report: report,
	Wakes: []fsm.Wake{
		{Name: "look", By: fsm.BySampler},
		{Name: "children", By: fsm.ByWatch},
		{Name: "approvals", By: fsm.ByWatch},
		{Name: "executions", By: fsm.ByWatch},
		{Name: "parent", By: fsm.ByWatch},
		{Name: "gates", By: fsm.ByTimer, Every: gatesEvery},
		reserve.Wake,
	},
	Rules: fsm.Rules[input]{
		Start: Validating,
		Groups: []fsm.Group{
			{Name: "Before anything is done", Phases: []fsm.Phase{Validating, Validated, WaitingApproval}},
		},
		Guards: []fsm.Guard[input]{
			{On: Cancelled, To: Failed, In: []fsm.Phase{Validating, Validated, WaitingApproval}, When: isCancelled, Say: cancelledBy},
			{On: IdentityUnproven, To: Failed, In: []fsm.Phase{Validating, Validated, WaitingApproval}, When: isUnproven, Say: unprovenBy},
		},
		Holds: releaseGates,
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Validating: {
				Doc:    "Checking what was asked for, and making the plan.",
				Class:  fsm.Working,
				Decide: unlessForgotten(decideValidating),
				On:     map[fsm.Event]fsm.Phase{Passed: Validated, Invalid: Failed, DryRunFailed: Failed, ValidationTimeout: Failed, StatusLost: Failed},
				Until:  validateBy,
				Late:   ValidationTimeout,
			},
			Validated: {
				Doc:    "The plan may be carried out; asking whether a person must approve it, and reserving the target.",
				Class:  fsm.Working,
				Decide: unlessForgotten(decideValidated),
				On: map[fsm.Event]fsm.Phase{ApprovalRequired: WaitingApproval, Clear: Executing, PlanChanged: Validating,
					StartTimeout: Failed, StatusLost: Failed},
				Until: startBy,
				Late:  StartTimeout,
			},
			WaitingApproval: {
				Doc:    "Waiting for a person to approve this very plan.",
				Class:  fsm.Working,
				Decide: unlessForgotten(decideWaitingApproval),
				On: map[fsm.Event]fsm.Phase{Approved: Executing, Rejected: Failed, PlanChanged: Validating,
					ApprovalTimeout: Failed, StartTimeout: Failed, StatusLost: Failed},
				Until: approveBy,
				Late:  ApprovalTimeout,
			},
			// NOTE: no guard, deadline or error of the kernel leaves executing. It would end the execution
			// before its Job is deleted, and an ended execution never deletes anything.
			Executing: {
				Doc:    "The Job is made suspended, saved, released after a last look, and watched to its end.",
				Class:  fsm.Working,
				Decide: decideExecuting,
				On: map[fsm.Event]fsm.Phase{Succeeded: RollbackReady, SucceededFinal: Completed, ActionFailed: Failed,
					TimedOut: Failed, PostconditionFailed: Failed, Withdrawn: Failed, OutcomeUnknown: Failed, StatusLost: Failed, Cancelled: Failed},
			},
			RollbackReady: {
				Doc:    "The action is done and verified, and another execution can take it back.",
				Class:  fsm.Steady,
				Decide: decideRollbackReady,
				On:     map[fsm.Event]fsm.Phase{Finalized: Completed, RolledBack: Failed},
			},
			Completed: {Doc: "The action is done for good.", Class: fsm.Done},
			Failed:    {Doc: "The reason says why, and status.effect what is known of the target.", Class: fsm.Failed},
		},
	},
}

// Ended says that nothing will ever be done about an execution again.
func Ended(x *remediationv1.KubernetesExecution) bool {
	return x.Status.Phase == Completed || x.Status.Phase == Failed
}
