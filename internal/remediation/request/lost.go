package request

import (
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// lost finds where a request stands whose status is gone: one that bears its mark may have made executions.
func lost(in input) (fsm.Phase, bool) { return Executing, in.World.Begun }

// isLost says that the status was lost after the request had begun.
func isLost(in input) bool {
	move, known := in.Obj.Status.LastMove(Executing)
	return known && move.Event == fsm.Lost
}

// decideLost ends a request whose status was lost. Its executions notice that it does not ask for them any more: those
// that had no effect yet end. No step begins any more.
func decideLost(in input) fsm.Decision {
	for _, c := range in.World.Children.List {
		if c.Sight == presence.Here && !c.over() {
			return fsm.Wait(ReasonLost, "children").In(gatesEvery).Because("The status was lost after the request had begun, so no step begins any more; "+
				"waiting for KubernetesExecution %s of step %s to end.", c.Name, c.Step)
		}
	}
	for _, c := range in.World.Children.List {
		if c.Effect == remediationv1.EffectUnknown {
			return fsm.Fire(StepHasFailed, ReasonOutcomeUnknown).Because("The status was lost after the request had begun, and it is unknown what KubernetesExecution %s of step %s did.", c.Name, c.Step)
		}
	}
	if doneByChildren(in) {
		return fsm.Fire(StepsDone, ReasonCompleted).Because("The status was lost after the request had begun; its executions say that all steps were carried out.")
	}
	return fsm.Fire(StatusLost, ReasonStatusLost).Because("The status was lost after the request had begun, and not every step was carried out. " +
		"Look at the executions of the request, and make another request.")
}

// doneByChildren says that each step was carried out by an execution, and that none was taken back.
func doneByChildren(in input) bool {
	done := map[string]bool{}
	for _, c := range in.World.Children.List {
		if c.Undo && c.Effect == remediationv1.EffectApplied {
			return false
		}
		done[c.Step] = done[c.Step] || !c.Undo && c.succeeded()
	}
	for _, s := range in.Obj.Spec.Steps {
		if !done[s.Name] {
			return false
		}
	}
	return true
}
