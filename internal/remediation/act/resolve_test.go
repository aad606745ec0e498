package act

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

var markedAt = time.Unix(1_700_000_000, 0)

// markedLease is that of a target that execution more of dora may have changed.
func markedLease() *coordinationv1.Lease {
	at := metav1.NewTime(markedAt)
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "system", Name: read.LeaseName("t1"), CreationTimestamp: metav1.NewTime(markedAt.Add(-24 * time.Hour)),
		Annotations: map[string]string{
			read.TargetAnnotation:     "Deployment.apps/shop/web/t1",
			read.UnresolvedAnnotation: `{"by":"KubernetesExecution.remediation.statecraft.dev/shop/more/x1","requester":"dora"}`,
		},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "statecraft-remediation", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:statecraft.dev/unresolved":{}}}}`),
		}},
	}}
}

func acknowledgement(by string, after time.Duration) *remediationv1.ExecutionApproval {
	return &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "seen", CreationTimestamp: metav1.NewTime(markedAt.Add(after))},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: "more", UID: "x1"}, Decision: remediationv1.Acknowledged, Approver: &meta.Requester{Username: by},
		},
	}
}

// aboutAnother names an execution that the approver may approve, and quotes the UID of the one whose outcome is unknown.
func aboutAnother(a *remediationv1.ExecutionApproval) *remediationv1.ExecutionApproval {
	a.Spec.ExecutionRef.Name = "low-risk"
	return a
}

// TestResolve: a mark goes by the word of another person who may approve, who has seen that the outcome is unknown.
func TestResolve(t *testing.T) {
	for name, tc := range map[string]struct {
		said    *remediationv1.ExecutionApproval
		may     bool
		verdict guard.Verdict
		frees   bool
	}{
		"afterwards":                       {acknowledgement("olga", time.Minute), true, guard.Verdict{}, true},
		"within the second":                {acknowledgement("olga", 0), true, guard.Verdict{}, true},
		"in advance":                       {acknowledgement("olga", -time.Second), true, guard.Verdict{}, false},
		"that names another":               {aboutAnother(acknowledgement("olga", time.Minute)), true, guard.Verdict{}, false},
		"by its requester":                 {acknowledgement("dora", time.Minute), true, guard.Verdict{}, false},
		"without the verb":                 {acknowledgement("olga", time.Minute), false, guard.Verdict{}, false},
		"by a ServiceAccount":              {acknowledgement("system:serviceaccount:shop:bot", time.Minute), true, guard.Verdict{}, false},
		"while a policy is missing":        {acknowledgement("olga", time.Minute), true, guard.Verdict{Gap: "a policy is missing"}, false},
		"before the policies were changed": {acknowledgement("olga", time.Minute), true, guard.Verdict{Since: markedAt.Add(time.Hour)}, false},
	} {
		scheme := runtime.NewScheme()
		if err := clientgoscheme.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		if err := remediationv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		c := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(markedLease(), tc.said).Build()
		env := kube.Env{Client: c, Live: c, Namespace: "system"}
		left := -1
		r := Resolver{
			Live: env.LiveReader(), Cached: env.Cached(), Reservations: env.Reservations(), Left: func(n int) { left = n },
			May: func(_ context.Context, _ *meta.Requester, what read.Right) (read.Access, error) {
				return read.Access{Allowed: tc.may && what.Verb == remediationv1.VerbApprove && what.Name == "more"}, nil
			},
			Policies: func(context.Context) (guard.Verdict, error) { return tc.verdict, nil },
		}
		if err := r.Resolve(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var lease coordinationv1.Lease
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(markedLease()), &lease); err != nil {
			t.Fatal(err)
		}
		if freed := read.UnresolvedOf(&lease) == nil; freed != tc.frees || freed != (left == 0) {
			t.Errorf("%s: freed %t, %d are left", name, freed, left)
		}
	}
}
