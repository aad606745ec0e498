package remediation

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func requestOf(name string) *remediationv1.RemediationRequest {
	x := execution(name).Spec
	rr := &remediationv1.RemediationRequest{ObjectMeta: named(name)}
	for _, step := range []string{"first", "second"} {
		rr.Spec.Steps = append(rr.Spec.Steps, remediationv1.RemediationStep{
			Name: step, Action: x.Action, Target: x.Target, Parameters: x.Parameters, PreConditions: x.PreConditions,
		})
	}
	return rr
}

// TestARequestKeepsWhatItAskedFor: only spec.paused and spec.cancel can be changed, and a cancelled request stays cancelled. Who
// made it is written by admission, over whatever was given.
func TestARequestKeepsWhatItAskedFor(t *testing.T) {
	s := newStage(t)
	as := s.actors[requester].in(t)
	rr := requestOf("steps")
	if err := as.Create(t.Context(), rr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.admin.Delete(context.WithoutCancel(t.Context()), rr); err != nil {
			t.Error(err)
		}
	})
	if by := rr.Spec.Requester; by == nil || by.Username != requester {
		t.Errorf("it is of %+v", by)
	}
	if spec := rr.Spec; spec.OnFailure != remediationv1.OnFailureStop || spec.DeadlineSeconds != 3600 || spec.RollbackDeadlineSeconds != 900 || spec.Steps[0].TimeoutSeconds != 300 {
		t.Errorf("it has other defaults than an execution: %+v", spec)
	}
	patch := func(text string) error {
		return as.Patch(t.Context(), rr.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text)))
	}
	const two = `{"name":"second","action":"test_scale","target":{"kind":"Deployment","name":"web"},"parameters":{"replicas":3},"preConditions":[{"name":"calm","parameters":{"for":60},"timeoutSeconds":0}]}`
	first := func(change ...string) string {
		return strings.NewReplacer(append([]string{"second", "first"}, change...)...).Replace(two)
	}
	steps := func(all ...string) string { return `{"spec":{"steps":[` + strings.Join(all, ",") + `]}}` }
	for name, text := range map[string]string{
		"another action":            steps(first("test_scale", "test_limit"), two),
		"another target":            steps(first("web", "other"), two),
		"another parameter":         steps(first(`"replicas":3`, `"replicas":4`), two),
		"another precondition":      steps(first(`"for":60`, `"for":61`), two),
		"one step less":             steps(first()),
		"one step more":             steps(first(), two, strings.Replace(two, "second", "third", 1)),
		"another order":             steps(two, first()),
		"more tries":                steps(first(`"parameters"`, `"maxRetries":5,"parameters"`), two),
		"another failure":           `{"spec":{"onFailure":"Rollback"}}`,
		"another deadline":          `{"spec":{"deadlineSeconds":7200}}`,
		"another rollback deadline": `{"spec":{"rollbackDeadlineSeconds":7200}}`,
		"another requester":         `{"spec":{"requester":{"username":"approver"}}}`,
	} {
		if err := patch(text); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{steps(first(), two), `{"spec":{"paused":true}}`, `{"spec":{"paused":false}}`, `{"spec":{"cancel":true}}`} {
		if err := patch(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := patch(`{"spec":{"cancel":false}}`); err == nil || !strings.Contains(err.Error(), "stays cancelled") {
		t.Errorf("it can be cancelled no more: %v", err)
	}
}

// TestARequestIsWellFormed: the schema refuses what no manager could carry out.
func TestARequestIsWellFormed(t *testing.T) {
	s := newStage(t)
	for says, change := range map[string]func(*remediationv1.RemediationRequestSpec){
		"spec.steps: Required value":     func(spec *remediationv1.RemediationRequestSpec) { spec.Steps = nil },
		"spec.steps: Too many":           func(spec *remediationv1.RemediationRequestSpec) { spec.Steps = many(spec.Steps[0], 17) },
		"spec.steps[1]: Duplicate value": func(spec *remediationv1.RemediationRequestSpec) { spec.Steps[1].Name = spec.Steps[0].Name },
		"spec.steps[0].name: Invalid":    func(spec *remediationv1.RemediationRequestSpec) { spec.Steps[0].Name = "First step" },
		"spec.steps[0].maxRetries":       func(spec *remediationv1.RemediationRequestSpec) { spec.Steps[0].MaxRetries = 6 },
		"spec.onFailure: Unsupported":    func(spec *remediationv1.RemediationRequestSpec) { spec.OnFailure = "Retry" },
	} {
		rr := requestOf("odd")
		change(&rr.Spec)
		err := s.actors[requester].in(t).Create(t.Context(), rr)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

// many are steps of different names.
func many(step remediationv1.RemediationStep, n int) (all []remediationv1.RemediationStep) {
	for i := range n {
		step.Name = "step-" + string(rune('a'+i))
		all = append(all, step)
	}
	return all
}
