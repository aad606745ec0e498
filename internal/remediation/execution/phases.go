package execution

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of an execution.
const (
	Validating      fsm.Phase = "validating"
	Validated       fsm.Phase = "validated"
	WaitingApproval fsm.Phase = "waiting_approval"
	Executing       fsm.Phase = "executing"
	RollbackReady   fsm.Phase = "rollback_ready"
	Completed       fsm.Phase = "completed"
	Failed          fsm.Phase = "failed"
)

// The events of an execution. Those that the kernel fires are also the reason of the failure.
const (
	Passed              fsm.Event = "Passed"              // the plan is made and may be carried out
	Invalid             fsm.Event = "Invalid"             // it may not, or no plan can be made
	DryRunFailed        fsm.Event = "DryRunFailed"        // the API server refuses the change as a dry run
	ValidationTimeout   fsm.Event = "validation_timeout"  // the checks did not end in time
	ApprovalRequired    fsm.Event = "ApprovalRequired"    // the policy wants a person to approve
	Clear               fsm.Event = "Clear"               // no person needs to approve
	StartTimeout        fsm.Event = "start_timeout"       // the execution was held for too long
	Approved            fsm.Event = "Approved"            // a person approved this very plan
	Rejected            fsm.Event = "Rejected"            // a person rejected it
	ApprovalTimeout     fsm.Event = "approval_timeout"    // no person approved in time
	PlanChanged         fsm.Event = "PlanChanged"         // what would be done is not what was planned
	Succeeded           fsm.Event = "Succeeded"           // done, and it can be taken back
	SucceededFinal      fsm.Event = "SucceededFinal"      // done, and there is no way back, or this was it
	ActionFailed        fsm.Event = "Failed"              // the Job ended without having changed the target, or in the middle
	TimedOut            fsm.Event = "TimedOut"            // the Job ran out of time, without having changed the target
	PostconditionFailed fsm.Event = "PostconditionFailed" // done, and a required postcondition does not hold
	Withdrawn           fsm.Event = "Withdrawn"           // the Job was deleted before it was released
	OutcomeUnknown      fsm.Event = "Unknown"             // no witness says whether the target was changed
	StatusLost          fsm.Event = "Forgotten"           // the status was lost, its own or that of its request, and the Job was never released
	Finalized           fsm.Event = "Finalized"           // the time for taking it back is over
	RolledBack          fsm.Event = "RolledBack"          // another execution took it back
	Cancelled           fsm.Event = "cancelled"           // its owner cancelled it
	IdentityUnproven    fsm.Event = "identity_unproven"   // no admission policy looked at who made it
)

// The reasons of waits and moves.
const (
	ReasonNotLooked         fsm.Reason = "NotLooked"                   // what is needed was not read yet
	ReasonMakingAccount     fsm.Reason = "MakingAccount"               // the account of the action is being made
	ReasonAccountNotReady   fsm.Reason = "AccountNotReady"             // the API server does not know the rights of the action's account yet
	ReasonPlanning          fsm.Reason = "Planning"                    // the plan is being saved
	ReasonPlanned           fsm.Reason = "Planned"                     // the plan is saved, and may be carried out
	ReasonPreconditions     fsm.Reason = "AwaitingPreconditions"       // a required precondition does not hold yet
	ReasonPolicy            fsm.Reason = "PolicyRequiresApproval"      // the policy wants a person to approve
	ReasonAwaitingApproval  fsm.Reason = "AwaitingApproval"            // a person must approve or reject the plan
	ReasonApproved          fsm.Reason = "PlanApproved"                // a person approved this very plan
	ReasonNoApproval        fsm.Reason = "NoApprovalNeeded"            // no person needs to approve
	ReasonPlanChanged       fsm.Reason = "PlanOutdated"                // what would be done is not what was planned
	ReasonReserving         fsm.Reason = "Reserving"                   // the target is being reserved
	ReasonReservedByOther   fsm.Reason = "ReservedByOther"             // another operation has reserved the target
	ReasonUnresolved        fsm.Reason = "UnresolvedOutcome"           // an earlier execution may have changed the target, and no person has looked
	ReasonPoliciesMissing   fsm.Reason = "PoliciesMissing"             // an admission policy of the area is missing or changed
	ReasonWrongIdentity     fsm.Reason = "WrongIdentity"               // the manager does not run with its own account from a pod
	ReasonPolicyInvalid     fsm.Reason = "PolicyInvalid"               // the policy pack does not compile, and no earlier one is known
	ReasonSuspended         fsm.Reason = "Suspended"                   // an administrator has suspended all executions
	ReasonAwaitingRequest   fsm.Reason = "AwaitingRequest"             // the request of which it is a step has not saved yet that this execution carries it out
	ReasonStorm             fsm.Reason = "Storm"                       // too many executions of the cluster failed within a short time
	ReasonRateLimited       fsm.Reason = "RateLimited"                 // as many executions were released in the namespace within an hour as may be
	ReasonCoolingDown       fsm.Reason = "CoolingDown"                 // the same was done to the target a moment ago
	ReasonAuditUnavailable  fsm.Reason = "AuditUnavailable"            // the audit database does not answer, and nothing may be done without a record
	ReasonPreparing         fsm.Reason = "Preparing"                   // the state before is saved, and the suspended Job is made
	ReasonNoReturn          fsm.Reason = "PointOfNoReturn"             // the UID of the Job is being saved
	ReasonRecordingIntent   fsm.Reason = "RecordingIntent"             // what is about to be done is being recorded in the audit database
	ReasonReleasing         fsm.Reason = "Releasing"                   // all is checked once more, and the Job is released
	ReasonRunning           fsm.Reason = "Running"                     // the Job runs
	ReasonWithdrawing       fsm.Reason = "Withdrawing"                 // the Job that was not released is being deleted
	ReasonRecordingResult   fsm.Reason = "SavingResult"                // what the Job came to is being saved
	ReasonMarkingUnresolved fsm.Reason = "MarkingUnresolved"           // the target is being marked, because no witness says what was done to it
	ReasonPostconditions    fsm.Reason = "AwaitingPostconditions"      // a required postcondition does not hold yet
	ReasonExecuted          fsm.Reason = "ExecutionCompleted"          // the action is done, and can be taken back
	ReasonCompleted         fsm.Reason = "ExecutionCompletedPermanent" // the action is done for good
)

// The reasons with which an execution fails.
const (
	ReasonInvalid             fsm.Reason = "validation_error"     // the execution may not be carried out, or no plan can be made
	ReasonDryRunFailed        fsm.Reason = "dry_run_failed"       // the API server refuses the change
	ReasonPlanUnstable        fsm.Reason = "plan_unstable"        // the plan changed again and again
	ReasonRejected            fsm.Reason = "approval_rejected"    // a person rejected the plan
	ReasonTargetChanged       fsm.Reason = "target_changed"       // the target is not what was approved any more
	ReasonApprovalVoid        fsm.Reason = "approval_void"        // the approval ended, was withdrawn, or is of another plan
	ReasonAccessDenied        fsm.Reason = "access_denied"        // the requester, or the action's account, may not do it any more
	ReasonPolicyDenied        fsm.Reason = "policy_denied"        // the policy does not allow it any more
	ReasonPreconditionFailed  fsm.Reason = "precondition_failed"  // a required precondition does not hold any more
	ReasonExecutionFailed     fsm.Reason = "execution_failed"     // the action failed, and changed nothing
	ReasonExecutionTimeout    fsm.Reason = "execution_timeout"    // the action did not begin or end in time, and changed nothing
	ReasonIncomplete          fsm.Reason = "execution_incomplete" // the action was done in part: the target was changed
	ReasonPostconditionFailed fsm.Reason = "postcondition_failed" // the action is done, and a required postcondition does not hold
	ReasonOutcomeUnknown      fsm.Reason = "outcome_unknown"      // no witness says whether the action changed the target; it is never done again
	ReasonRolledBack          fsm.Reason = "rolled_back"          // another execution took the action back
	ReasonCancelled           fsm.Reason = "cancelled"            // its owner cancelled it before its Job was released
	ReasonStatusLost          fsm.Reason = "StatusLost"           // the status of the execution, or of the request of which it is a step, was lost after the work had begun
	ReasonIdentityUnproven    fsm.Reason = "identity_unproven"    // no admission policy looked at who made it
)
