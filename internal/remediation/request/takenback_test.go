package request

import (
	"strings"
	"testing"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// TestWhoTookAStepBack: what the step's own execution says counts, unless a rollback of the request may have written after that.
func TestWhoTookAStepBack(t *testing.T) {
	undo := func(effect remediationv1.Effect) *remediationv1.StepRun {
		return &remediationv1.StepRun{Place: meta.Place{Phase: StepRunning}, Attempt: 1, EndedAt: &createdAt, Effect: effect, Reason: ReasonFailed,
			Message: "It failed.", Execution: &remediationv1.ChildRef{Name: "undo", UID: "u1"}}
	}
	for name, tc := range map[string]struct {
		undo   *remediationv1.StepRun
		change func(*Child)
		is     bool
	}{
		"a person, before the request began to":         {nil, func(*Child) {}, true},
		"a person, and the request was refused":         {undo(none), func(*Child) {}, true},
		"a person, and the request changed nothing":     {undo(notApplied), func(*Child) {}, true},
		"a person, and it is unknown what we did":       {undo(unknown), func(*Child) {}, false},
		"a person, and we did a part of it":             {undo(applied), func(*Child) {}, false},
		"the request, whose execution was then deleted": {undo(unknown), func(c *Child) { c.TakenBackBy = "u1" }, true},
		"nobody":                           {nil, done, false},
		"nobody, and it failed":            {nil, func(c *Child) { c.Reason = execution.ReasonPostconditionFailed }, false},
		"another execution of the name":    {nil, func(c *Child) { c.UID = "other" }, false},
		"one that says something else":     {nil, func(c *Child) { c.Sight = presence.Other }, false},
		"the step does not stand any more": {&remediationv1.StepRun{Place: meta.Place{Phase: StepSucceeded}}, func(*Child) {}, false},
	} {
		rr := atSecond(object())
		w, s := atSecondWorld(rr), &rr.Status.Steps[0]
		s.Undo = tc.undo
		isTakenBackByMine(&w.Children.List[0])
		tc.change(&w.Children.List[0])
		if _, is := takenBack(w, s); is != tc.is {
			t.Errorf("%s: taken back: %t", name, is)
		}
		if stand := standing(input{Obj: rr, World: w}, " Standing: "); tc.is == strings.Contains(stand, "Standing: first") && stands(s) {
			t.Errorf("%s: %q", name, stand)
		}
	}
}

// TestATakenBackStepIsSaved with what took it back, and as no failure.
func TestATakenBackStepIsSaved(t *testing.T) {
	rr := atSecond(object())
	w, s := atSecondWorld(rr), &rr.Status.Steps[0]
	isTakenBackByMine(&w.Children.List[0])
	saveTakenBack(s, w.Children.List[0], createdAt)
	if u := s.Undo; u.Phase != StepSucceeded || u.Effect != none || u.Reason != "" || u.EndedAt == nil || u.Message != "KubernetesExecution mine took the action back." || stands(s) {
		t.Errorf("%+v", u)
	}
	s.Undo = &remediationv1.StepRun{Attempt: 1, Effect: unknown, Reason: ReasonOutcomeUnknown, Execution: &remediationv1.ChildRef{Name: "undo", UID: "u1"}}
	w.Children.List[0].TakenBackBy, w.Children.List[0].Message = "u1", ""
	if saveTakenBack(s, w.Children.List[0], createdAt); s.Undo.Effect != applied || s.Undo.Attempt != 1 || s.Undo.Message == "" {
		t.Errorf("%+v", s.Undo)
	}
}
