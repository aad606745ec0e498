package request

import (
	"testing"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

const (
	none       = remediationv1.EffectNone
	notApplied = remediationv1.EffectNotApplied
	applied    = remediationv1.EffectApplied
	unknown    = remediationv1.EffectUnknown
)

// secondStep is the lane of the second step, which runs, with its execution changed.
func secondStep(change func(*remediationv1.RemediationRequest, *World, *Child)) (step, lane) {
	rr := atSecond(object())
	w := atSecondWorld(rr)
	change(rr, &w, &w.Children.List[1])
	in := step{Input: input{Obj: rr, World: w, Now: createdAt.Time}, Lane: stepPrefix + "2"}
	in.Place = rr.Status.Steps[1].Place
	return in, laneOf(in)
}

// TestWhatATryCameTo: an execution that is not there did nothing only if its UID was never saved, because it waits for that.
func TestWhatATryCameTo(t *testing.T) {
	type rr = remediationv1.RemediationRequest
	unnamed := func(r *rr) { r.Status.Steps[1].Execution.UID = "" }
	for name, tc := range map[string]struct {
		change func(*rr, *World, *Child)
		known  bool
		effect remediationv1.Effect
		reason fsm.Reason
	}{
		"it goes on":                            {func(*rr, *World, *Child) {}, false, "", ""},
		"it was not looked at":                  {func(_ *rr, w *World, _ *Child) { w.Children = Children{} }, false, "", ""},
		"it is ready to be taken back":          {func(_ *rr, _ *World, c *Child) { done(c) }, true, applied, ""},
		"it is completed":                       {func(_ *rr, _ *World, c *Child) { done(c); c.Phase = execution.Completed }, true, applied, ""},
		"it failed without an effect":           {func(_ *rr, _ *World, c *Child) { fails(c) }, true, notApplied, execution.ReasonExecutionFailed},
		"it is unknown what it did":             {func(_ *rr, _ *World, c *Child) { isUnknown(c) }, true, unknown, ReasonOutcomeUnknown},
		"it failed and does not say its effect": {func(_ *rr, _ *World, c *Child) { fails(c); c.Effect = "" }, true, unknown, execution.ReasonExecutionFailed},
		"it failed while its effect was open":   {func(_ *rr, _ *World, c *Child) { fails(c); c.Effect = remediationv1.EffectStarted }, true, unknown, execution.ReasonExecutionFailed},
		"another execution took it back": {func(_ *rr, _ *World, c *Child) {
			done(c)
			c.Phase, c.Reason = execution.Failed, execution.ReasonRolledBack
		}, true, notApplied, execution.ReasonRolledBack},
		"it vanished after it was named":    {func(_ *rr, w *World, _ *Child) { w.Children.List = nil }, true, unknown, ReasonOutcomeUnknown},
		"another has its name":              {func(_ *rr, _ *World, c *Child) { done(c); c.UID = "other" }, true, unknown, ReasonOutcomeUnknown},
		"it says something else":            {func(_ *rr, _ *World, c *Child) { done(c); c.Sight = presence.Other }, true, unknown, ReasonOutcomeUnknown},
		"it is made, and not named yet":     {func(r *rr, _ *World, c *Child) { unnamed(r) }, false, "", ""},
		"it is not made yet":                {func(r *rr, w *World, _ *Child) { unnamed(r); w.Children.List = nil }, false, "", ""},
		"it is cancelled before it is made": {func(r *rr, w *World, _ *Child) { unnamed(r); w.Children.List, r.Spec.Cancel = nil, true }, true, none, ReasonCancelled},
		"it is too late to make it":         {func(r *rr, w *World, _ *Child) { unnamed(r); w.Children.List, r.Spec.DeadlineSeconds = nil, 0 }, true, none, ReasonDeadline},
		"another had its name before":       {func(r *rr, _ *World, c *Child) { unnamed(r); c.Sight = presence.Other }, true, none, ReasonNameTaken},
	} {
		in, l := secondStep(tc.change)
		r, known := resultOf(in, l)
		if known != tc.known || r.effect != tc.effect || r.reason != tc.reason {
			t.Errorf("%s: known %t, effect %q, reason %q", name, known, r.effect, r.reason)
		}
	}
}

// TestWhatIsTriedAgain: what had no effect, failed for a reason that another try may mend, and has a try left.
func TestWhatIsTriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		effect    remediationv1.Effect
		reason    fsm.Reason
		attempt   int32
		cancelled bool
		again     bool
	}{
		"it changed nothing":                        {notApplied, execution.ReasonExecutionFailed, 1, false, true},
		"it did nothing":                            {none, execution.ReasonDryRunFailed, 2, false, true},
		"the status of its execution was lost":      {none, execution.ReasonStatusLost, 1, false, true},
		"it was held for too long":                  {none, "start_timeout", 1, false, true},
		"no try is left":                            {notApplied, execution.ReasonExecutionFailed, 3, false, false},
		"it changed its target":                     {applied, execution.ReasonExecutionFailed, 1, false, false},
		"it is unknown what it did":                 {unknown, execution.ReasonExecutionTimeout, 1, false, false},
		"a person rejected it":                      {none, execution.ReasonRejected, 1, false, false},
		"no person approved it":                     {none, "approval_timeout", 1, false, false},
		"its requester may not do it":               {none, execution.ReasonAccessDenied, 1, false, false},
		"the policy does not allow it":              {none, execution.ReasonPolicyDenied, 1, false, false},
		"it makes no sense":                         {none, execution.ReasonInvalid, 1, false, false},
		"its target never stands still":             {none, execution.ReasonPlanUnstable, 1, false, false},
		"no policy looked at who asked for it":      {none, execution.ReasonIdentityUnproven, 1, false, false},
		"the request was cancelled in the meantime": {notApplied, execution.ReasonExecutionFailed, 1, true, false},
	} {
		in, _ := secondStep(func(rr *remediationv1.RemediationRequest, _ *World, _ *Child) {
			rr.Spec.Steps[1].MaxRetries, rr.Spec.Cancel = 2, tc.cancelled
			s := &rr.Status.Steps[1]
			s.Attempt, s.EndedAt, s.Effect, s.Reason = tc.attempt, &createdAt, tc.effect, tc.reason
		})
		if again := mayTryAgain(in.Input, laneOf(in)); again != tc.again {
			t.Errorf("%s: tried again: %t", name, again)
		}
	}
}
