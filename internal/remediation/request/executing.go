package request

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideExecuting ends the request, once no execution of it is under way.
func decideExecuting(in input) fsm.Decision {
	switch {
	case !in.World.Children.Looked:
		return fsm.Wait(ReasonNotLooked, "children").In(lookAgain).Because("Waiting for a look at the executions of the request.")
	case isLost(in):
		return decideLost(in)
	case !in.World.Begun:
		return fsm.Do(ReasonBeginning, MarkBegun{in.Obj.UID}).Because("The request is marked as begun before its first step begins.")
	}
	if s, failed := failedStep(in); failed {
		return afterFailure(in, s)
	}
	switch {
	case allDone(in):
		return fsm.Fire(StepsDone, ReasonCompleted).Because("All steps were carried out.%s", takenBackWords(in))
	case isUnderWay(in):
		return goOn(in)
	case isCancelled(in):
		return fsm.Fire(Cancelled, ReasonCancelled).Because("%s.%s", cancelled(in), standing(in, " These steps stand: "))
	case isLate(in):
		return stop(in, ReasonDeadline, fmt.Sprintf("Not every step could begin within %ds of the request.", in.Obj.Spec.DeadlineSeconds))
	}
	return goOn(in)
}

// afterFailure ends the request after a step failed for good, or begins to take back what was done.
func afterFailure(in input, s remediationv1.StepStatus) fsm.Decision {
	stand := standing(in, " These steps stand: ")
	switch {
	case s.Effect == remediationv1.EffectUnknown:
		return fsm.Fire(StepHasFailed, ReasonOutcomeUnknown).Because("It is unknown what step %s did, so no step is tried again or taken back: %s%s", s.Name, s.Message, stand)
	case isCancelled(in):
		return fsm.Fire(Cancelled, ReasonCancelled).Because("%s. Step %s: %s%s", cancelled(in), s.Name, s.Message, stand)
	}
	return stop(in, reasonOf(s), fmt.Sprintf("Step %s failed in try %d%s (%s): %s", s.Name, s.Attempt, byChild(s.StepRun), s.Reason, s.Message))
}

// stop ends the request after a failure, or begins to take back what was done.
func stop(in input, reason fsm.Reason, why string) fsm.Decision {
	if in.Obj.Spec.OnFailure == remediationv1.OnFailureRollback && changedSomething(in) {
		return fsm.Fire(StepHasFailedRollsBack, ReasonRollingBack).Because("%s What was done is taken back.", why)
	}
	return fsm.Fire(StepHasFailed, reason).Because("%s%s", why, standing(in, " These steps stand: "))
}

// byChild names the execution of a try, if there was one.
func byChild(r remediationv1.StepRun) string {
	if (run{r}).childUID() == "" {
		return ""
	}
	return " by KubernetesExecution " + r.Execution.Name
}

// goOn waits for the lanes. Their words stand, and its timer is the deadline: of a hold no event tells.
func goOn(in input) fsm.Decision {
	d := fsm.Wait(ReasonStepRunning, "children").Because("Waiting for the steps of the request.")
	if left := deadline(in).Sub(in.Now); left > 0 {
		return d.In(left)
	}
	return d
}
