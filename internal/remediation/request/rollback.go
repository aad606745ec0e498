package request

import (
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideRollingBack ends the request, once no execution of it is under way.
func decideRollingBack(in input) fsm.Decision {
	if !in.World.Children.Looked {
		return fsm.Wait(ReasonNotLooked, "children").In(lookAgain).Because("Waiting for a look at the executions of the request.")
	}
	if s, failed := failedUndo(in); failed {
		return afterFailedUndo(in, s)
	}
	stand := standing(in, " These steps stand: ")
	switch {
	case isUnderWay(in):
		return goOn(in)
	case allUndone(in) && changedSomething(in):
		return fsm.Fire(RollbackHasFailed, ReasonIncomplete).Because("%s%s", whyRolledBack(in), standing(in, " No execution takes back these steps, which stand: "))
	case allUndone(in):
		return fsm.Fire(InversesDone, ReasonRolledBack).Because("%s Everything that was done is taken back.", whyRolledBack(in))
	case isCancelled(in):
		return fsm.Fire(RollbackHasFailed, ReasonCancelled).Because("%s while it was rolled back.%s", cancelled(in), stand)
	case isLate(in):
		return fsm.Fire(RollbackHasFailed, ReasonDeadline).Because("Not everything could be taken back within %ds.%s", in.Obj.Spec.RollbackDeadlineSeconds, stand)
	}
	return goOn(in)
}

// afterFailedUndo ends the request: what is left to be taken back stands.
func afterFailedUndo(in input, s remediationv1.StepStatus) fsm.Decision {
	stand := standing(in, " These steps stand: ")
	switch {
	case s.Undo.Effect == remediationv1.EffectUnknown:
		return fsm.Fire(RollbackHasFailed, ReasonOutcomeUnknown).Because("It is unknown what taking back step %s did, so no other step is taken back: %s%s",
			s.Name, s.Undo.Message, standing(in, " These steps stand, or may: "))
	case isCancelled(in):
		return fsm.Fire(RollbackHasFailed, ReasonCancelled).Because("%s while it was rolled back. Taking back step %s: %s%s", cancelled(in), s.Name, s.Undo.Message, stand)
	}
	return fsm.Fire(RollbackHasFailed, ReasonRollback).Because("Step %s could not be taken back%s (%s): %s%s", s.Name, byChild(*s.Undo), s.Undo.Reason, s.Undo.Message, stand)
}

// whyRolledBack is what was said when the rollback began.
func whyRolledBack(in input) string {
	move, known := in.Obj.Status.LastMove(RollingBack)
	if !known || move.Message == "" {
		return "The request was rolled back."
	}
	return strings.TrimSuffix(move.Message, " What was done is taken back.")
}
