package explain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// TestSteps lists each step with its execution, its try and its effect, and how taking it back goes.
func TestSteps(t *testing.T) {
	rr := &remediationv1.RemediationRequest{}
	for _, name := range []string{"more", "restart", "last", "undone"} {
		rr.Spec.Steps = append(rr.Spec.Steps, remediationv1.RemediationStep{Name: name, Action: name, Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}})
	}
	rr.Spec.Steps[0].Parameters = map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("5")}}
	run := func(phase meta.Phase, child string, effect remediationv1.Effect, reason meta.Reason, message string) remediationv1.StepRun {
		return remediationv1.StepRun{Place: meta.Place{Phase: phase}, Attempt: 1, Execution: &remediationv1.ChildRef{Name: child}, Effect: effect, Reason: reason, Message: message}
	}
	ended := metav1.Now()
	undo := run("running", "repair-u", "", "", "")
	rr.Status.Steps = []remediationv1.StepStatus{
		{Name: "more", StepRun: run("succeeded", "repair-1", remediationv1.EffectApplied, "", "The action is done."), Undo: &undo},
		{Name: "restart", StepRun: run("failed", "repair-2", remediationv1.EffectNotApplied, "execution_failed", "The action failed.")},
		{Name: "last", StepRun: remediationv1.StepRun{Place: meta.Place{Phase: "waiting"}}},
		{Name: "undone", StepRun: run("succeeded", "repair-3", remediationv1.EffectApplied, "", "The action is done."),
			Undo: &remediationv1.StepRun{Place: meta.Place{Phase: "succeeded"}, EndedAt: &ended, Message: "KubernetesExecution mine took the action back."}},
	}
	rr.Status.Targets = []remediationv1.ReservedTarget{{Kind: "Deployment.apps", Namespace: "shop", Name: "web", UID: "t1"}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(rr)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := RequestSections(&unstructured.Unstructured{Object: content}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := []explain.Section{{Title: "Steps", Entries: []explain.Entry{
		{Name: "more", Values: []string{`more {"replicas":5} on Deployment web`, "Succeeded, try 1 by KubernetesExecution repair-1, effect Applied.", "The action is done.",
			"Undo: running, try 1 by KubernetesExecution repair-u."}},
		{Name: "restart", Values: []string{"restart on Deployment web", "Failed, try 1 by KubernetesExecution repair-2, effect NotApplied (execution_failed).", "The action failed."}},
		{Name: "last", Values: []string{"last on Deployment web"}},
		{Name: "undone", Values: []string{"undone on Deployment web", "Succeeded, try 1 by KubernetesExecution repair-3, effect Applied.", "The action is done.",
			"Undo: succeeded.", "KubernetesExecution mine took the action back."}},
	}}, {Title: "Targets", Entries: []explain.Entry{{Name: "Reserved", Values: []string{"Deployment.apps web, UID t1"}}}}}
	if diff := cmp.Diff(want, sections); diff != "" {
		t.Error(diff)
	}
}
