package observe

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

// repair is a request that has begun with its only step.
func repair() *remediationv1.RemediationRequest {
	rr := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1"}}
	rr.Spec.Requester = &meta.Requester{Username: "dora"}
	rr.Spec.Steps = []remediationv1.RemediationStep{{Name: "more", Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}}}
	rr.Status.Phase = request.Executing
	rr.Status.Steps = []remediationv1.StepStatus{{Name: "more", StepRun: remediationv1.StepRun{
		Attempt: 1, Execution: &remediationv1.ChildRef{Name: request.ChildName("r1", "repair", "more", 1, false), UID: "x1"},
	}}}
	return rr
}

// TestParent: a step is one that its request asks for in every field, and that its status names.
func TestParent(t *testing.T) {
	here := execution.Parent{Sight: presence.Here, Agrees: true, Named: true}
	for name, tc := range map[string]struct {
		change func(rr *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution)
		want   execution.Parent
	}{
		"it asks for it": {want: here},
		"it is cancelled": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Spec.Cancel = true
		}, execution.Parent{Sight: presence.Here, Agrees: true, Named: true, Cancelled: true}},
		"it has ended": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Phase = request.Failed
		}, execution.Parent{Sight: presence.Here, Agrees: true, Named: true, Over: true}},
		"it has not saved it": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Steps[0].Execution.UID = ""
		}, execution.Parent{Sight: presence.Here, Agrees: true}},
		"it has saved another": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Steps[0].Execution.UID = "x0"
		}, execution.Parent{Sight: presence.Here, Agrees: true}},
		"it was asked by another user": {func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			x.Spec.Requester.Username = "root"
		}, execution.Parent{Sight: presence.Here, Named: true}},
		"it is about another target": {func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			x.Spec.Target.Name = "till"
		}, execution.Parent{Sight: presence.Here, Named: true}},
		"it is at the next try": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Steps[0].Attempt = 2
		}, execution.Parent{Sight: presence.Here, Named: true}},
		"its status was lost": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status, rr.Annotations = remediationv1.RemediationRequestStatus{}, map[string]string{remediationv1.BegunAnnotation: "r1"}
		}, execution.Parent{Sight: presence.Here, Forgot: true}},
		"it knows that its status was lost": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status = remediationv1.RemediationRequestStatus{}
			rr.Status.Phase, rr.Status.History = request.Executing, []meta.Transition{{To: request.Executing, Event: fsm.Lost}}
		}, execution.Parent{Sight: presence.Here, Forgot: true}},
		"it has not begun": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status = remediationv1.RemediationRequestStatus{}
		}, execution.Parent{Sight: presence.Here}},
		"it does not own it": {func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			x.OwnerReferences = nil
		}, execution.Parent{Sight: presence.Here, Named: true}},
		"it was deleted, and is there": {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.DeletionTimestamp, rr.Finalizers = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}, []string{metav1.FinalizerDeleteDependents}
		}, execution.Parent{Sight: presence.Here, Agrees: true, Named: true, Deleted: true}},
		"it was deleted, and leaves its steps behind": {func(rr *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			rr.DeletionTimestamp, rr.Finalizers = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}, []string{metav1.FinalizerOrphanDependents}
			x.OwnerReferences = nil
		}, execution.Parent{Sight: presence.Here, Named: true, Deleted: true}},
		"another request has its name":    {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) { rr.UID = "r2" }, execution.Parent{Sight: presence.Other}},
		"it is gone":                      {func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) { rr.Name = "other" }, execution.Parent{Sight: presence.Gone}},
		"it is not the step of a request": {func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) { x.Spec.Parent = nil }, execution.Parent{}},
	} {
		rr, scheme := repair(), runtime.NewScheme()
		if err := remediationv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: rr.Status.Steps[0].Execution.Name, UID: "x1"}}
		x.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(rr, remediationv1.GroupVersion.WithKind("RemediationRequest"))}
		spec, asks := request.ChildSpec(rr, "more", 1, false)
		if x.Spec = spec; !asks {
			t.Fatal("the request asks for no execution")
		}
		if tc.change != nil {
			tc.change(rr, x)
		}
		o := Execution{Live: read.Live{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(rr).Build()}}
		got, _, err := o.parent(t.Context(), x)
		if got != tc.want || err != nil {
			t.Errorf("%s: %+v, want %+v: %v", name, got, tc.want, err)
		}
	}
}
