package request

import "github.com/statecraft-dev/statecraft/internal/fsm"

// The phases of a request.
const (
	Pending     fsm.Phase = "pending"
	Executing   fsm.Phase = "executing"
	RollingBack fsm.Phase = "rolling_back"
	Completed   fsm.Phase = "completed"
	RolledBack  fsm.Phase = "rolled_back"
	Failed      fsm.Phase = "failed"
)

// The phases of a step, and of taking it back.
const (
	StepWaiting   fsm.Phase = "waiting"
	StepStarting  fsm.Phase = "starting"
	StepRunning   fsm.Phase = "running"
	StepSucceeded fsm.Phase = "succeeded"
	StepFailed    fsm.Phase = "failed"
)

// The events of a request. Those that the kernel fires are also the reason of the failure.
const (
	Admitted               fsm.Event = "Admitted"           // every target exists and is reserved
	Refused                fsm.Event = "Refused"            // a step cannot be carried out as it is asked for
	Late                   fsm.Event = "deadline_exceeded"  // its time was over before the first step began
	Cancelled              fsm.Event = "cancelled"          // its owner cancelled it
	IdentityUnproven       fsm.Event = "identity_unproven"  // no admission policy looked at who made it
	StepsDone              fsm.Event = "StepsDone"          // every step was carried out
	StepHasFailed          fsm.Event = "StepFailed"         // a step failed, or did not begin in time, and nothing is taken back
	StepHasFailedRollsBack fsm.Event = "StepFailedRollback" // the same, and what was done is taken back
	InversesDone           fsm.Event = "InversesDone"       // everything that was done is taken back
	RollbackHasFailed      fsm.Event = "RollbackFailed"     // something that was done could not be taken back
	StatusLost             fsm.Event = "Forgotten"          // the status was lost, and the executions do not say that all is done
)

// The events of a step, and of taking it back.
const (
	Begun     fsm.Event = "Begun"     // its turn has come, and its next try begins
	Made      fsm.Event = "Made"      // the execution is made, and its UID is saved
	Succeeded fsm.Event = "Succeeded" // the execution is done, and the target is changed
	Retried   fsm.Event = "Retried"   // the try failed without an effect, and there is another one
	GivenUp   fsm.Event = "GivenUp"   // the try failed, and there is no other one
	TakenBack fsm.Event = "TakenBack" // an execution that is not of the request took the step back
)

// The reasons of waits and moves.
const (
	ReasonNotLooked       fsm.Reason = "NotLooked"             // what is needed was not read yet
	ReasonMakingAccount   fsm.Reason = "MakingAccount"         // the account of an action is being made
	ReasonPoliciesMissing fsm.Reason = "PoliciesMissing"       // an admission policy of the area is missing or changed
	ReasonWrongIdentity   fsm.Reason = "WrongIdentity"         // the manager does not run with its own account from a pod
	ReasonTargetsFound    fsm.Reason = "TargetsFound"          // the targets of all steps exist, and are being saved
	ReasonReserving       fsm.Reason = "Reserving"             // a target is being reserved
	ReasonReservedByOther fsm.Reason = "ReservedByOther"       // another operation has reserved a target
	ReasonAdmitted        fsm.Reason = "AllReserved"           // every target is reserved
	ReasonBeginning       fsm.Reason = "Beginning"             // the request is being marked as begun, before the first execution is made
	ReasonPaused          fsm.Reason = "Paused"                // spec.paused is set
	ReasonNotItsTurn      fsm.Reason = "NotItsTurn"            // another step comes first
	ReasonBackingOff      fsm.Reason = "BackingOff"            // the last try failed without an effect, and the next one waits
	ReasonItsTurn         fsm.Reason = "ItsTurn"               // the next try of the step begins
	ReasonCreating        fsm.Reason = "CreatingExecution"     // the execution of the step is being made
	ReasonNaming          fsm.Reason = "SavingExecution"       // the UID of the execution is being saved
	ReasonCreated         fsm.Reason = "ExecutionCreated"      // the execution of the step is made
	ReasonStepRunning     fsm.Reason = "StepRunning"           // the execution of the step goes on
	ReasonCancelling      fsm.Reason = "CancellingExecution"   // the execution of the step is being cancelled
	ReasonRecording       fsm.Reason = "SavingResult"          // what the execution came to is being saved
	ReasonStepDone        fsm.Reason = "StepCompleted"         // the step was carried out
	ReasonStepUndone      fsm.Reason = "StepUndone"            // the step was taken back
	ReasonTryingAgain     fsm.Reason = "TryingAgain"           // the try failed without an effect, and there is another one
	ReasonStepEnded       fsm.Reason = "StepFailed"            // the step failed, and is not tried again
	ReasonRollingBack     fsm.Reason = "RollingBack"           // what was done is being taken back
	ReasonLost            fsm.Reason = "AwaitingExecutions"    // the status was lost, and the executions that were made must end first
	ReasonCompleted       fsm.Reason = "RemediationCompleted"  // every step was carried out
	ReasonRolledBack      fsm.Reason = "RemediationRolledBack" // everything that was done is taken back
)

// The reasons with which a request fails.
const (
	ReasonFailed           fsm.Reason = "RemediationFailed"   // a step failed; the message names it, its execution, and why
	ReasonInvalid          fsm.Reason = "validation_error"    // a step cannot be carried out as it is asked for
	ReasonNameTaken        fsm.Reason = "NameTaken"           // another object has the name of the execution of a step
	ReasonDeadline         fsm.Reason = "deadline_exceeded"   // a step, or the undoing of one, could not begin in time
	ReasonCancelled        fsm.Reason = "cancelled"           // its owner cancelled it
	ReasonOutcomeUnknown   fsm.Reason = "outcome_unknown"     // it is unknown whether a step changed its target; nothing is tried again or taken back
	ReasonRollback         fsm.Reason = "rollback_failed"     // a step could not be taken back
	ReasonIncomplete       fsm.Reason = "rollback_incomplete" // everything that has a way back is taken back, and something has none
	ReasonStatusLost       fsm.Reason = "StatusLost"          // the status was lost after the work had begun, and not every step was carried out
	ReasonIdentityUnproven fsm.Reason = "identity_unproven"   // no admission policy looked at who made it
)
