package request

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

const (
	stepPrefix = "step-"
	undoPrefix = "undo-"
)

// lanes are the steps in order, and in rolling_back those that can be taken back, the last one first. They are there once
// the steps are saved; a request that lost its status has none.
func lanes(in input) (names []string) {
	if isLost(in) {
		return nil
	}
	all := in.Obj.Status.Steps
	if in.Obj.Status.Phase != RollingBack {
		for i := range all {
			names = append(names, stepPrefix+strconv.Itoa(i+1))
		}
		return names
	}
	for i := range slices.Backward(all) {
		if canBeUndone(&all[i]) {
			names = append(names, undoPrefix+strconv.Itoa(i+1))
		}
	}
	return names
}

// placeOf is where a lane is stored.
func placeOf(rr *remediationv1.RemediationRequest, name string) *meta.Place {
	i, undo := indexOf(name)
	s := &rr.Status.Steps[i]
	if !undo {
		return &s.Place
	}
	if s.Undo == nil {
		s.Undo = &remediationv1.StepRun{}
	}
	return &s.Undo.Place
}

func indexOf(name string) (i int, undo bool) {
	number, undo := strings.CutPrefix(name, undoPrefix)
	i, _ = strconv.Atoi(strings.TrimPrefix(number, stepPrefix)) // lanes made it
	return i - 1, undo
}

// lane is one step, or taking it back, as its rules see it.
type lane struct {
	index int
	undo  bool
	step  *remediationv1.RemediationStep
	run   run
}

// run is one direction of a step.
type run struct{ remediationv1.StepRun }

func laneOf(in step) lane {
	i, undo := indexOf(in.Lane)
	return laneAt(in.Input, i, undo)
}

func laneAt(in input, i int, undo bool) lane {
	l := lane{index: i, undo: undo, step: &in.Obj.Spec.Steps[i]}
	if r := runOf(&in.Obj.Status.Steps[i], undo); r != nil {
		l.run = run{*r}
	}
	return l
}

// name is how a lane is called in a sentence, after the word step.
func (l lane) name() string {
	if l.undo {
		return l.step.Name + " (undo)"
	}
	return l.step.Name
}

func (r run) childName() string {
	if r.Execution == nil {
		return ""
	}
	return r.Execution.Name
}

func (r run) childUID() types.UID {
	if r.Execution == nil {
		return ""
	}
	return r.Execution.UID
}

// succeeded says that a try did what was asked for: only a failure has a reason.
func (r run) succeeded() bool {
	return r.EndedAt != nil && r.Effect == remediationv1.EffectApplied && r.Reason == ""
}

// isUnderWay says that an execution of the lane exists, or may exist.
func (r run) isUnderWay() bool { return r.Phase == StepStarting || r.Phase == StepRunning }

// isItsTurn says that all that comes before a lane is done: earlier steps, or, on the way back, later ones.
func isItsTurn(in input, l lane) bool {
	for i := range in.Obj.Status.Steps {
		s := &in.Obj.Status.Steps[i]
		switch {
		case !l.undo && i < l.index && s.Phase != StepSucceeded:
			return false
		case l.undo && i > l.index && canBeUndone(s) && (s.Undo == nil || s.Undo.Phase != StepSucceeded):
			return false
		}
	}
	return true
}

// stands says that a step changed its target, and that nothing took that back.
func stands(s *remediationv1.StepStatus) bool {
	undone := s.Undo != nil && s.Undo.Phase == StepSucceeded
	return s.EndedAt != nil && s.Effect == remediationv1.EffectApplied && !undone
}

// canBeUndone says that a step changed its target, and that its execution says how to take it back.
func canBeUndone(s *remediationv1.StepStatus) bool {
	back := s.RollbackInformation
	return s.EndedAt != nil && s.Effect == remediationv1.EffectApplied && back != nil && back.Available && s.Execution != nil && s.Execution.UID != ""
}
