package act

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

// beginning is a request whose only step begins, and the effect that makes its execution.
func beginning() (*remediationv1.RemediationRequest, request.CreateExecution) {
	rr := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1"}}
	rr.Spec.Requester = &meta.Requester{Username: "dora", Groups: []string{"shop"}}
	rr.Spec.Steps = []remediationv1.RemediationStep{{Name: "first", Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}}}
	name := request.ChildName("r1", "repair", "first", 1, false)
	rr.Status.Steps = []remediationv1.StepStatus{{Name: "first", StepRun: remediationv1.StepRun{Attempt: 1, Execution: &remediationv1.ChildRef{Name: name}}}}
	return rr, request.CreateExecution{Name: name, Step: "first", Attempt: 1}
}

func requesting(t *testing.T, objects ...client.Object) (Request, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	env := kube.Env{Client: c, Live: c, Namespace: "system"}
	return Request{Writer: env.Writer("request"), Live: env.LiveReader()}, c
}

// TestTheExecutionOfAStepIsMade as the request asks for it, with its requester. To make it again is to find it.
func TestTheExecutionOfAStepIsMade(t *testing.T) {
	rr, effect := beginning()
	a, c := requesting(t)
	for range 2 {
		if _, err := a.Act(t.Context(), rr, effect); err != nil {
			t.Fatal(err)
		}
	}
	var x remediationv1.KubernetesExecution
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: effect.Name}, &x); err != nil {
		t.Fatal(err)
	}
	if !request.Asks(rr, &x) || !metav1.IsControlledBy(&x, rr) || x.Spec.Requester.Groups[0] != "shop" {
		t.Errorf("%+v", x)
	}
}

// TestAnExecutionThatIsNotAskedForIsNotMade: neither one of another try, nor one whose name another has.
func TestAnExecutionThatIsNotAskedForIsNotMade(t *testing.T) {
	rr, effect := beginning()
	another := effect
	another.Attempt = 2
	a, _ := requesting(t)
	if _, err := a.Act(t.Context(), rr, another); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("another try: %v", err)
	}
	a, _ = requesting(t, &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: effect.Name, UID: "x1"}})
	if _, err := a.Act(t.Context(), rr, effect); fsm.ClassOf(err) != fsm.Refused {
		t.Errorf("another of its name: %v", err)
	}
}

// TestTheVeryExecutionIsCancelled that was seen.
func TestTheVeryExecutionIsCancelled(t *testing.T) {
	rr, _ := beginning()
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x", UID: "x1"}}
	a, c := requesting(t, x)
	cancelled := func() bool {
		var is remediationv1.KubernetesExecution
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(x), &is); err != nil {
			t.Fatal(err)
		}
		x.ResourceVersion = is.ResourceVersion
		return is.Spec.Cancel
	}
	_, err := a.Act(t.Context(), rr, request.CancelExecution{Name: "x", UID: "x1", ResourceVersion: "1"})
	if fsm.ClassOf(err) != fsm.Changed || cancelled() {
		t.Errorf("an older version: %v, cancelled: %t", err, cancelled())
	}
	if _, err := a.Act(t.Context(), rr, request.CancelExecution{Name: "x", UID: "x1", ResourceVersion: x.ResourceVersion}); err != nil || !cancelled() {
		t.Errorf("%v, cancelled: %t", err, cancelled())
	}
}
