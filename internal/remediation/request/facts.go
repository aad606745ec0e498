package request

import (
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// isCancelled says that the owner of the request wants it to end: a request that was deleted stays until its executions are
// gone, and must not make others meanwhile.
func isCancelled(in input) bool { return in.Obj.Spec.Cancel || in.Obj.DeletionTimestamp != nil }

// cancelled is how the owner of the request said that it is to end.
func cancelled(in input) string {
	if in.Obj.DeletionTimestamp != nil {
		return "The request was deleted"
	}
	return "The request was cancelled"
}

func saysCancelled(in input) string {
	return cancelled(in) + " before its first step began; nothing was done."
}

// isUnproven does not ask whether the request is marked as begun: while the policies are missing users can write the mark, and a
// request that has not begun by its status has not.
func isUnproven(in input) bool     { return in.World.Unproven != "" }
func saysUnproven(in input) string { return in.World.Unproven }

func isPaused(in input) (string, bool) {
	what := "begins"
	if in.Obj.Status.Phase == RollingBack {
		what = "is taken back"
	}
	return "Paused: no step " + what + " until the owner of the request sets spec.paused to false.", in.Obj.Spec.Paused
}

// isReservedByOther says that another operation holds the first target that is not ours.
func isReservedByOther(in input) (string, bool) {
	for _, t := range in.Obj.Status.Targets {
		f := in.World.target(t.UID)
		if f.State != reserve.Ours {
			return f.Held(refOf(t).Title())
		}
	}
	return "", false
}

func refOf(t remediationv1.ReservedTarget) reserve.Ref {
	return reserve.Ref{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, UID: t.UID}
}

// isOver says that nothing begins any more, and the request is about to end, or to be rolled back.
func isOver(in input) bool {
	_, failed := failedStep(in)
	if in.Obj.Status.Phase == RollingBack {
		_, failed = failedUndo(in)
	}
	return failed || isCancelled(in) || isLate(in)
}

func failedStep(in input) (s remediationv1.StepStatus, is bool) {
	for _, s := range in.Obj.Status.Steps {
		if s.Phase == StepFailed {
			return s, true
		}
	}
	return s, false
}

func failedUndo(in input) (s remediationv1.StepStatus, is bool) {
	for _, s := range in.Obj.Status.Steps {
		if s.Undo != nil && s.Undo.Phase == StepFailed {
			return s, true
		}
	}
	return s, false
}

// reasonOf is the reason of a request that ends with a step.
func reasonOf(s remediationv1.StepStatus) fsm.Reason {
	switch s.Reason {
	case ReasonNameTaken, ReasonDeadline:
		return s.Reason
	}
	return ReasonFailed
}

func allDone(in input) bool {
	for _, s := range in.Obj.Status.Steps {
		if s.Phase != StepSucceeded {
			return false
		}
	}
	return len(in.Obj.Status.Steps) > 0
}

func allUndone(in input) bool {
	for i := range in.Obj.Status.Steps {
		s := &in.Obj.Status.Steps[i]
		if canBeUndone(s) && (s.Undo == nil || s.Undo.Phase != StepSucceeded) {
			return false
		}
	}
	return true
}

// isUnderWay says that an execution of the request exists, or may exist, that has not ended.
func isUnderWay(in input) bool {
	_, is := underWay(in.Obj)
	return is
}

// underWay is the lane whose execution exists, or may exist, and has not ended. There is at most one.
func underWay(rr *remediationv1.RemediationRequest) (l lane, is bool) {
	for i := range rr.Status.Steps {
		for _, undo := range []bool{false, true} {
			r := runOf(&rr.Status.Steps[i], undo)
			if r != nil && i < len(rr.Spec.Steps) && (run{*r}).isUnderWay() {
				return lane{index: i, undo: undo, step: &rr.Spec.Steps[i], run: run{*r}}, true
			}
		}
	}
	return l, false
}

// changedSomething says that a step changed its target, and that it is not saved that it was taken back.
func changedSomething(in input) bool {
	for i := range in.Obj.Status.Steps {
		if stands(&in.Obj.Status.Steps[i]) {
			return true
		}
	}
	return false
}

// standing lists the steps that changed their target and were not taken back, and then those that others took back.
func standing(in input, words string) string {
	var names []string
	for i := range in.Obj.Status.Steps {
		s := &in.Obj.Status.Steps[i]
		if _, is := takenBack(in.World, s); stands(s) && !is {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return takenBackWords(in)
	}
	return words + strings.Join(names, ", ") + "." + takenBackWords(in)
}
