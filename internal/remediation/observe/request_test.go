package observe

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/internal/remediation/spec"
)

// oneStep is a request whose only step is being carried out.
func oneStep() *remediationv1.RemediationRequest {
	rr := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1"}}
	rr.Spec.Steps = []remediationv1.RemediationStep{{Name: "first", Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}}}
	rr.Status.Phase = request.Executing
	rr.Status.Steps = []remediationv1.StepStatus{{Name: "first", StepRun: remediationv1.StepRun{
		Place: meta.Place{Phase: request.StepRunning}, Attempt: 1,
		Execution: &remediationv1.ChildRef{Name: request.ChildName("r1", "repair", "first", 1, false), UID: "x1"},
	}}}
	return rr
}

// itsExecution is the execution of that step as the manager makes it.
func itsExecution(t *testing.T, rr *remediationv1.RemediationRequest) *remediationv1.KubernetesExecution {
	t.Helper()
	asked, is := request.ChildSpec(rr, "first", 1, false)
	if !is {
		t.Fatal("the request does not ask for its step")
	}
	x := spec.Execution(rr, rr.Status.Steps[0].Execution.Name, asked)
	x.UID = "x1"
	x.Status.Phase, x.Status.Effect = execution.Failed, remediationv1.EffectNotApplied
	x.Status.History = []meta.Transition{{From: execution.Executing, To: execution.Failed, Event: execution.ActionFailed, Reason: "execution_failed", Message: "It failed."}}
	return x
}

func reading(t *testing.T, err error, objects ...client.Object) Request {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hooks := interceptor.Funcs{}
	if err != nil {
		hooks.Get = func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(hooks).WithObjects(objects...).Build()
	return Request{Live: read.Live{Reader: c}}
}

// TestTheExecutionOfAStep: that it is gone is the API server's word, and what does not say what the request asks for, or is not
// controlled by it, is another.
func TestTheExecutionOfAStep(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*remediationv1.KubernetesExecution)
		sight  presence.State
	}{
		"ours":                    {func(*remediationv1.KubernetesExecution) {}, presence.Here},
		"ours, and cancelled":     {func(x *remediationv1.KubernetesExecution) { x.Spec.Cancel = true }, presence.Here},
		"of another request":      {func(x *remediationv1.KubernetesExecution) { x.OwnerReferences[0].UID = "r2" }, presence.Other},
		"of nobody":               {func(x *remediationv1.KubernetesExecution) { x.OwnerReferences = nil }, presence.Other},
		"with another spec":       {func(x *remediationv1.KubernetesExecution) { x.Spec.Target.Name = "till" }, presence.Other},
		"with another requester":  {func(x *remediationv1.KubernetesExecution) { x.Spec.Requester = &meta.Requester{Username: "olga"} }, presence.Other},
		"that takes a step back":  {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.Undo = true }, presence.Other},
		"that is no step at all":  {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent = nil }, presence.Other},
		"of another of that name": {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.UID = "r2" }, presence.Other},
	} {
		rr := oneStep()
		x := itsExecution(t, rr)
		tc.change(x)
		seen, err := reading(t, nil, x).child(t.Context(), rr)
		if err != nil || !seen.Looked || len(seen.List) != 1 || seen.List[0].Sight != tc.sight {
			t.Errorf("%s: %+v, %v", name, seen, err)
			continue
		}
		if c := seen.List[0]; tc.sight == presence.Here && (c.Reason != "execution_failed" || c.Message != "It failed." || c.Effect != remediationv1.EffectNotApplied || c.Cancelled != x.Spec.Cancel) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if seen, err := reading(t, nil).child(t.Context(), oneStep()); err != nil || !seen.Looked || len(seen.List) != 0 {
		t.Errorf("gone: %+v, %v", seen, err)
	}
	if seen, err := reading(t, errors.New("away")).child(t.Context(), oneStep()); err == nil || seen.Looked {
		t.Errorf("a read that failed is taken for a look: %+v", seen)
	}
}

// TestExecutionsOfARequestThatForgot are those that it controls and that say so.
func TestExecutionsOfARequestThatForgot(t *testing.T) {
	rr := oneStep()
	ours, another, loose := itsExecution(t, rr), itsExecution(t, rr), itsExecution(t, rr)
	another.Name, another.OwnerReferences[0].UID = "another", "r2"
	loose.Name, loose.Spec.Parent = "loose", nil
	rr.Status = remediationv1.RemediationRequestStatus{}
	rr.Annotations = map[string]string{remediationv1.BegunAnnotation: "r1"}
	w, err := reading(t, nil, ours, another, loose).Observe(t.Context(), rr)
	if err != nil || !w.Begun || !w.Children.Looked || len(w.Children.List) != 1 || w.Children.List[0].Name != ours.Name || w.Children.List[0].Step != "first" {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestWhatStandsIsLookedAt: while no execution is under way, those of steps that stand are read, because a person may have taken
// one back.
func TestWhatStandsIsLookedAt(t *testing.T) {
	rr := oneStep()
	x := itsExecution(t, rr)
	x.Status.Effect, x.Status.RolledBackBy = remediationv1.EffectApplied, &remediationv1.ExecutionRef{Name: "mine", UID: "m1"}
	x.Status.History = []meta.Transition{{From: execution.RollbackReady, To: execution.Failed, Event: execution.RolledBack, Reason: execution.ReasonRolledBack}}
	s, at := &rr.Status.Steps[0], metav1.Now()
	s.Phase, s.EndedAt, s.Effect = request.StepSucceeded, &at, remediationv1.EffectApplied
	seen := request.Children{Looked: true}
	if err := reading(t, nil, x).standing(t.Context(), rr, &seen); err != nil || len(seen.List) != 1 || seen.List[0].TakenBackBy != "m1" || seen.List[0].Reason != execution.ReasonRolledBack {
		t.Errorf("%+v, %v", seen, err)
	}
	seen = request.Children{Looked: true}
	if err := reading(t, errors.New("away"), x).standing(t.Context(), rr, &seen); err == nil || seen.Looked {
		t.Errorf("a read that failed is taken for a look: %+v", seen)
	}
	s.Undo = &remediationv1.StepRun{Place: meta.Place{Phase: request.StepSucceeded}}
	if seen = (request.Children{}); reading(t, nil, x).standing(t.Context(), rr, &seen) != nil || len(seen.List) != 0 {
		t.Errorf("reads the execution of a step that is known to be taken back: %+v", seen)
	}
}
