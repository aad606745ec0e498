package execution

import (
	"slices"
	"testing"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// TestWhatKeepsAJobFromBeingReleased: everything is saved and looked at, and one thing is not as it must be.
func TestWhatKeepsAJobFromBeingReleased(t *testing.T) {
	for name, spoil := range map[string]func(x *remediationv1.KubernetesExecution, w *World){
		"":                                      func(*remediationv1.KubernetesExecution, *World) {},
		"the look is old":                       func(_ *remediationv1.KubernetesExecution, w *World) { w.Look.Fresh = false },
		"the look does not come to a plan":      func(_ *remediationv1.KubernetesExecution, w *World) { w.Look.Outcome = Waiting },
		"the target bears its token":            func(_ *remediationv1.KubernetesExecution, w *World) { w.Look.Token = true },
		"the plan is another one":               func(_ *remediationv1.KubernetesExecution, w *World) { w.Look.Plan.Digest = "other" },
		"the approval was withdrawn":            func(_ *remediationv1.KubernetesExecution, w *World) { w.Decisions = nil },
		"the approval is over":                  func(_ *remediationv1.KubernetesExecution, w *World) { w.Decisions[0].Until = createdAt.Time },
		"another person rejects it":             func(_ *remediationv1.KubernetesExecution, w *World) { w.Decisions = append(w.Decisions, rejection()) },
		"a policy is missing":                   func(_ *remediationv1.KubernetesExecution, w *World) { w.Gates.Policies = "A policy is missing." },
		"the manager has another account":       func(_ *remediationv1.KubernetesExecution, w *World) { w.Gates.Identity = "It is another account." },
		"all executions are suspended":          func(_ *remediationv1.KubernetesExecution, w *World) { w.Gates.Suspended = "All are suspended." },
		"the target is not reserved":            func(_ *remediationv1.KubernetesExecution, w *World) { w.Target.State = reserve.Free },
		"the target is reserved by another":     func(_ *remediationv1.KubernetesExecution, w *World) { w.Target.State = reserve.Others },
		"the past of the target is unknown":     func(_ *remediationv1.KubernetesExecution, w *World) { w.Target.Unresolved = &reserve.Unresolved{} },
		"the Job was not looked at":             func(_ *remediationv1.KubernetesExecution, w *World) { w.Job.Sight = presence.Unknown },
		"the Job is another one than was saved": func(x *remediationv1.KubernetesExecution, _ *World) { x.Status.JobUID = "other" },
		"the Job is not saved":                  func(x *remediationv1.KubernetesExecution, _ *World) { x.Status.JobUID = "" },
		"the execution bears no mark":           func(_ *remediationv1.KubernetesExecution, w *World) { w.Begun = false },
		"as many as may be were released":       func(_ *remediationv1.KubernetesExecution, w *World) { w.Brakes.Rate = closing },
		"the same was done a moment ago":        func(_ *remediationv1.KubernetesExecution, w *World) { w.Brakes.Cooldown = closing },
		"too many executions fail":              func(_ *remediationv1.KubernetesExecution, w *World) { w.Brakes.Storm = closing },
		"the request was not looked at":         ofRequest(Parent{}),
		"the request is gone":                   ofRequest(Parent{Sight: presence.Gone}),
		"another request has its name":          ofRequest(Parent{Sight: presence.Other}),
		"the request has ended":                 ofRequest(Parent{Sight: presence.Here, Agrees: true, Named: true, Over: true}),
		"the request is cancelled":              ofRequest(Parent{Sight: presence.Here, Agrees: true, Named: true, Cancelled: true}),
		"the request is deleted":                ofRequest(Parent{Sight: presence.Here, Agrees: true, Named: true, Deleted: true}),
		"the execution is deleted":              func(x *remediationv1.KubernetesExecution, _ *World) { x.DeletionTimestamp = &createdAt },
		"the request asks for something else":   ofRequest(Parent{Sight: presence.Here, Named: true}),
		"the request has not saved it":          ofRequest(Parent{Sight: presence.Here, Agrees: true}),
		"the approval that was saved ended": func(_ *remediationv1.KubernetesExecution, w *World) {
			w.Decisions[0].Until = createdAt.Time
			w.Decisions = append(w.Decisions, Decision{Name: "later", By: "otto", Token: approvedToken(), At: createdAt.Time})
		},
		"the execution is cancelled":        func(x *remediationv1.KubernetesExecution, _ *World) { x.Spec.Cancel = true },
		"an audit database does not answer": func(_ *remediationv1.KubernetesExecution, w *World) { w.Gates.Audit = "It is away." },
		"the intent is not recorded": func(_ *remediationv1.KubernetesExecution, w *World) {
			w.Audit = Audit{Wanted: true, Sight: presence.Gone}
		},
		"the record is not saved": func(_ *remediationv1.KubernetesExecution, w *World) {
			w.Audit = Audit{Wanted: true, Sight: presence.Here}
		},
		"an earlier manager did without": func(x *remediationv1.KubernetesExecution, w *World) {
			x.Status.Audit = &remediationv1.IntentRecord{Message: "It was away."}
			w.Audit = Audit{Wanted: true, Required: true, Sight: presence.Unknown}
		},
		"the status was lost": func(x *remediationv1.KubernetesExecution, _ *World) { x.Status.Plan = nil },
	} {
		x, w := saved(object()), suspended()
		asked := asked().World()
		w.Look.Plan, w.Decisions = asked.Look.Plan, asked.Decisions
		x.Status.Plan = w.Look.Plan.DeepCopy()
		x.Status.ApprovalReceived = &remediationv1.ApprovalReceived{Name: "ok", Approver: "olga", PlanDigest: approvedToken()}
		spoil(x, &w)
		step, err := Machine.Step(input{Obj: x, World: w, Now: createdAt.Add(time.Second)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		releases := slices.ContainsFunc(step.Decision.Do, func(e fsm.Effect) bool { _, is := e.(ReleaseJob); return is })
		if releases != (name == "") {
			t.Errorf("%q: releases: %t, %s", name, releases, step.Decision.Reason)
		}
	}
}

// closing is a brake that holds.
var closing = &brake.Closed{Until: createdAt.Add(time.Minute), Why: "Others failed."}

// ofRequest makes the execution a step of a request.
func ofRequest(p Parent) func(*remediationv1.KubernetesExecution, *World) {
	return func(x *remediationv1.KubernetesExecution, w *World) { x.Spec.Parent, w.Parent = ofStep(), p }
}

func rejection() Decision {
	return Decision{Name: "no", By: "otto", Token: approvedToken(), Rejects: true, At: createdAt.Time}
}

// TestAMarkProvesNoIdentity: users can write the mark that precedes the Job while the admission policies are missing.
func TestAMarkProvesNoIdentity(t *testing.T) {
	for name, tc := range map[string]struct {
		x    *remediationv1.KubernetesExecution
		want fsm.Reason
	}{
		"it has not begun": {func() *remediationv1.KubernetesExecution {
			x := object()
			x.Status.Place = meta.Place{Phase: Validating, Since: createdAt}
			return x
		}(), ReasonIdentityUnproven},
		"it has, and the policies were upgraded since": {saved(object()), ReasonReleasing},
	} {
		w := suspended()
		w.Unproven = "No admission policy checked who made the execution."
		step, err := Machine.Step(input{Obj: tc.x, World: w, Now: createdAt.Add(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		reason := step.Decision.Reason
		if n := len(step.Hops); n > 0 {
			reason = step.Hops[0].Reason
		}
		if reason != tc.want {
			t.Errorf("%s: %s", name, reason)
		}
	}
}

// TestTheTokenDoesNotSayWhatTheActionLeft: what the pod reported is lost, and others have written the target by the time it is looked at.
func TestTheTokenDoesNotSayWhatTheActionLeft(t *testing.T) {
	x, w := saved(object()), suspended()
	w.Job.Suspended, w.Job.Over, w.Look = false, true, withState(w.Look, "what others made of it")
	in := input{Obj: x, World: w, Now: createdAt.Add(time.Minute)}
	step, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	s := Machine.Reduce(in, step, nil).Obj.Status
	if s.Effect != remediationv1.EffectApplied || s.After != nil || !s.RollbackInformation.Available {
		t.Errorf("effect %s, after %+v", s.Effect, s.After)
	}
}

// TestPostconditionsThatAreNotSeenAreNotAwaitedForEver: a condition held once, and no look succeeds any more.
func TestPostconditionsThatAreNotSeenAreNotAwaitedForEver(t *testing.T) {
	x, w := saved(object()), suspended()
	x.Spec.PostConditions = []remediationv1.Condition{{Name: "available", Required: true, TimeoutSeconds: 60}}
	x.Status.Effect, x.Status.ExecutionResults = remediationv1.EffectApplied, &remediationv1.ExecutionResults{Success: true, EndTime: &createdAt}
	w.Job = Job{Sight: presence.Gone}
	w.Look.Fresh, w.Look.Validation = false, &remediationv1.ValidationResults{PostConditionResults: []remediationv1.ConditionResult{{Name: "available", Holds: true, Required: true}}}
	for after, want := range map[time.Duration]fsm.Reason{30 * time.Second: ReasonPostconditions, 61 * time.Second: ReasonPostconditionFailed} {
		step, err := Machine.Step(input{Obj: x, World: w, Now: createdAt.Add(after)})
		if err != nil {
			t.Fatal(err)
		}
		reason := step.Decision.Reason
		if n := len(step.Hops); n > 0 {
			reason = step.Hops[0].Reason
		}
		if reason != want {
			t.Errorf("after %s: %s", after, reason)
		}
	}
}

// TestTheConsentThatCountsIsSaved: the Job is released by the word of a person, and that word is what covers a rollback later, not
// what another person has withdrawn, or the same one has said besides.
func TestTheConsentThatCountsIsSaved(t *testing.T) {
	yes := func(name, by string, valid time.Duration, back bool) Decision {
		return Decision{Name: name, By: by, Token: approvedToken(), At: createdAt.Time, Until: createdAt.Add(valid), IncludesRollback: back}
	}
	olga := remediationv1.ApprovalReceived{Name: "ok", Approver: "olga", PlanDigest: approvedToken(), IncludesRollback: true}
	for name, tc := range map[string]struct {
		decisions []Decision
		releases  bool
		want      string // is saved
		covers    bool
	}{
		"it still counts":                         {[]Decision{yes("ok", "olga", time.Hour, true)}, true, "ok", true},
		"it counts beside a longer one":           {[]Decision{yes("ok", "olga", time.Hour, true), yes("later", "otto", 2*time.Hour, false)}, true, "ok", true},
		"it was withdrawn, and another approves":  {[]Decision{yes("later", "otto", time.Hour, false)}, false, "later", false},
		"it ended, and the same person approves":  {[]Decision{yes("ok", "olga", 0, true), yes("later", "olga", time.Hour, false)}, false, "later", false},
		"another of its name is without rollback": {[]Decision{yes("ok", "olga", time.Hour, false)}, false, "ok", false},
	} {
		x, w := saved(object()), suspended()
		w.Look.Plan, w.Decisions = asked().World().Look.Plan, tc.decisions
		x.Status.Plan, x.Status.ApprovalReceived = w.Look.Plan.DeepCopy(), olga.DeepCopy()
		in := input{Obj: x, World: w, Now: createdAt.Add(time.Second)}
		step, err := Machine.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		is := Machine.Reduce(in, step, nil).Obj.Status.ApprovalReceived
		if releases := len(step.Decision.Do) == 1; releases != tc.releases || is.Name != tc.want || is.IncludesRollback != tc.covers {
			t.Errorf("%s: releases: %t, %+v", name, releases, is)
		}
	}
}
