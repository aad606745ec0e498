package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// TestThePolicySeesTheStep of which the execution is: a pack may decide otherwise about what a request does.
func TestThePolicySeesTheStep(t *testing.T) {
	for name, tc := range map[string]struct {
		parent *remediationv1.ParentRef
		want   *policy.Parent
	}{
		"an execution of its own": {},
		"the undoing of a step": {
			&remediationv1.ParentRef{Name: "repair", UID: "r1", Step: "more", Attempt: 2, Undo: true},
			&policy.Parent{Name: "repair", Step: "more", Attempt: 2, Undo: true},
		},
	} {
		x := scaling()
		x.Spec.Parent = tc.parent
		x.Status.JobUID = "job"
		x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
		d := New(x, "statecraft-system", "image")
		d.Define(presence.Gone, &remediationv1.ActionDefinition{})
		d.Target(presence.Here, web(), reserve.Ref{UID: "t1"})
		if diff := cmp.Diff(tc.want, d.Question(policy.Pack{}, Surroundings{}, true).Input.Parent); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestATargetIsGoneIfItWasSeenToBe: one that the account of the action may not read for a moment is not.
func TestATargetIsGoneIfItWasSeenToBe(t *testing.T) {
	for name, tc := range map[string]struct {
		look func(*Draft)
		want bool
	}{
		"it is there":       {func(d *Draft) { d.Target(presence.Here, web(), reserve.Ref{UID: "t1"}) }, false},
		"it is not there":   {func(d *Draft) { d.Target(presence.Gone, nil, reserve.Ref{}) }, true},
		"it cannot be read": {func(d *Draft) { d.Wait(execution.ReasonAccountNotReady, "Waiting for the API server.") }, false},
		"it is not known":   {func(d *Draft) { d.Target(presence.Unknown, nil, reserve.Ref{}) }, false},
		"another has its name": {func(d *Draft) {
			other := web()
			other["metadata"].(map[string]any)["uid"] = "t2"
			d.Target(presence.Here, other, reserve.Ref{UID: "t2"})
		}, true},
	} {
		x := scaling()
		x.Status.JobUID = "job"
		x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
		d := New(x, "statecraft-system", "image")
		d.Define(presence.Here, definition())
		tc.look(d)
		if is := d.Question(policy.Pack{}, Surroundings{}, true).Input.Request.Target.Gone; is != tc.want {
			t.Errorf("%s: gone %t", name, is)
		}
	}
}
