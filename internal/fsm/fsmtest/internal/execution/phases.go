package execution

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases.
const (
	Validating      fsm.Phase = "validating"
	Validated       fsm.Phase = "validated"
	WaitingApproval fsm.Phase = "waiting_approval"
	Executing       fsm.Phase = "executing"
	Completed       fsm.Phase = "completed"
	Failed          fsm.Phase = "failed"
)

// The events. Those that the kernel fires are also the reason of the failure.
const (
	Passed           fsm.Event = "Passed"
	Refused          fsm.Event = "Refused"
	ValidationLate   fsm.Event = "validation_timeout"
	ApprovalRequired fsm.Event = "ApprovalRequired"
	Clear            fsm.Event = "Clear"
	Approved         fsm.Event = "Approved"
	Rejected         fsm.Event = "Rejected"
	PlanChanged      fsm.Event = "PlanChanged"
	ApprovalLate     fsm.Event = "approval_timeout"
	Succeeded        fsm.Event = "Succeeded"
	ActionFailed     fsm.Event = "ActionFailed"
	TargetChanged    fsm.Event = "target_changed"
	OutcomeUnknown   fsm.Event = "OutcomeUnknown"
	ExecutionLate    fsm.Event = "execution_timeout"
	Cancelled        fsm.Event = "cancelled"
)

// The reasons.
const (
	ReasonNotLooked       fsm.Reason = "NotLooked"         // what is needed was not read yet
	ReasonPlanned         fsm.Reason = "Planned"           // a plan is being saved
	ReasonPlanUnstable    fsm.Reason = "plan_unstable"     // five plans, none lasted
	ReasonInvalid         fsm.Reason = "validation_error"  // the request is refused
	ReasonDryRunFailed    fsm.Reason = "dry_run_failed"    // the API server refuses the write
	ReasonValid           fsm.Reason = "Valid"             // all checks passed
	ReasonPolicy          fsm.Reason = "Policy"            // policy wants an approval
	ReasonAwaitApproval   fsm.Reason = "AwaitingApproval"  // a person must decide
	ReasonApprovalVoid    fsm.Reason = "ApprovalVoid"      // the approval expired, or is for another plan
	ReasonApproved        fsm.Reason = "Approved"          // a person approved this plan
	ReasonRejected        fsm.Reason = "approval_rejected" // a person refused
	ReasonPlanChanged     fsm.Reason = "PlanChanged"       // what would be done is no longer what was planned
	ReasonReserving       fsm.Reason = "Reserving"         // taking the target's reservation
	ReasonReservedByOther fsm.Reason = "ReservedByOther"   // another operation works on the target
	ReasonBefore          fsm.Reason = "RecordingBefore"   // the state before is being saved
	ReasonPrepared        fsm.Reason = "Prepared"          // everything is saved, the Job can be made
	ReasonNoReturn        fsm.Reason = "PointOfNoReturn"   // the Job's UID is being saved
	ReasonReleased        fsm.Reason = "Released"          // the Job may run
	ReasonRunning         fsm.Reason = "Running"           // the Job runs
	ReasonApplied         fsm.Reason = "Applied"           // the action is done
	ReasonActionFailed    fsm.Reason = "execution_failed"  // it is not, and nothing was changed
	ReasonUnknown         fsm.Reason = "outcome_unknown"   // nobody can say: never run again
	ReasonTargetChanged   fsm.Reason = "target_changed"    // at the last check
)

type input = fsm.Input[*Execution, World]

const (
	checkTimeout = time.Minute
	grace        = 90 * time.Second // pod termination and Job bookkeeping after the action's own timeout
	maxPlans     = 5
	look         = 5 * time.Second
)

// Machine is the whole procedure.
var Machine = fsm.Machine[*Execution, World]{
	Kind:    "Execution",
	OneShot: true,
	Lost:    lost,
	Report:  report,
	Wakes: []fsm.Wake{
		{Name: "jobs", By: fsm.ByWatch},
		{Name: "approvals", By: fsm.ByWatch},
		{Name: "policy", By: fsm.ByWatch},
		{Name: "target", By: fsm.ByWatch},
		{Name: "reservations", By: fsm.ByReservation, Every: 5 * time.Second},
	},
	Rules: fsm.Rules[input]{
		Start: Validating,
		Guards: []fsm.Guard[input]{{On: Cancelled, To: Failed, When: func(in input) bool {
			return in.Obj.Spec.Cancel && (in.World.Job == nil && in.Obj.Status.JobUID == "" || in.World.Job != nil && in.World.Job.Suspended)
		}}},
		// The gate stands before executing. A person may still approve or refuse, and
		// the approval's deadline runs on.
		Holds: []fsm.Hold[input]{{
			Reason: ReasonReservedByOther, In: []fsm.Phase{Executing}, When: reservedByOther, Wake: "reservations", ClockRuns: true,
		}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Validating: {
				Doc:    "Checking the request and making a plan.",
				Class:  fsm.Working,
				Decide: decideValidating,
				On:     map[fsm.Event]fsm.Phase{Passed: Validated, Refused: Failed, ValidationLate: Failed},
				Within: checkTimeout,
				Late:   ValidationLate,
			},
			Validated: {
				Doc:    "Valid; asking whether a person must approve, and reserving the target.",
				Class:  fsm.Working,
				Decide: decideValidated,
				On:     map[fsm.Event]fsm.Phase{ApprovalRequired: WaitingApproval, Clear: Executing},
			},
			WaitingApproval: {
				Doc:    "Waiting for a person to approve this very plan.",
				Class:  fsm.Working,
				Decide: decideWaitingApproval,
				On: map[fsm.Event]fsm.Phase{Approved: Executing, Rejected: Failed, PlanChanged: Validating,
					ApprovalLate: Failed},
				Until: approvalBy,
				Late:  ApprovalLate,
			},
			Executing: {
				Doc:    "The Job is made, released and watched.",
				Class:  fsm.Working,
				Decide: decideExecuting,
				On: map[fsm.Event]fsm.Phase{Succeeded: Completed, ActionFailed: Failed, OutcomeUnknown: Failed,
					TargetChanged: Failed, ExecutionLate: Failed},
				Until: func(in input) time.Time { return in.Now.Add(in.Obj.Spec.Timeout.Duration + grace) },
				Late:  ExecutionLate,
				Fail:  map[fsm.ErrorClass]fsm.Event{fsm.Changed: TargetChanged},
			},
			Completed: {Doc: "The action is done.", Class: fsm.Done},
			Failed:    {Doc: "The reason says why, status.effect what is known about the target.", Class: fsm.Failed},
		},
	},
}

// approvalBy is the deadline of the first plan: a new plan does not buy time.
func approvalBy(in input) time.Time {
	if by := in.Obj.Status.ApprovalBy; by != nil {
		return by.Time
	}
	return in.Now.Add(in.Obj.Spec.ApprovalTimeout.Duration)
}
