package observe

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// TestDecisions: a decision counts, or it says why it does not.
func TestDecisions(t *testing.T) {
	made := metav1.NewTime(time.Unix(1_700_000_000, 0))
	aside := func(by, why string) []execution.SetAside {
		return []execution.SetAside{{Name: "one", By: by, Why: why, At: made.Time}}
	}
	for name, tc := range map[string]struct {
		change  func(*remediationv1.ExecutionApproval)
		verdict guard.Verdict
		mayNot  bool
		actsAs  bool // also as the ServiceAccount of the requester
		bot     bool // asked for the execution
		counts  bool
		aside   []execution.SetAside
	}{
		"a person who may":                        {counts: true},
		"a person who may not":                    {mayNot: true, aside: aside("olga", "that user may not approve the execution")},
		"a ServiceAccount":                        {change: func(a *remediationv1.ExecutionApproval) { a.Spec.Approver.Username = "system:serviceaccount:shop:bot" }, aside: aside("system:serviceaccount:shop:bot", "a ServiceAccount cannot decide")},
		"it is not known who":                     {change: func(a *remediationv1.ExecutionApproval) { a.Spec.Approver = nil }, aside: aside("(unknown)", "no admission policy recorded who made it")},
		"a policy is missing":                     {verdict: guard.Verdict{Gap: "ValidatingAdmissionPolicy x is missing"}, aside: aside("olga", "ValidatingAdmissionPolicy x is missing")},
		"a policy was missing":                    {verdict: guard.Verdict{Since: made.Time, Last: "ValidatingAdmissionPolicy x"}, aside: aside("olga", "ValidatingAdmissionPolicy x was not in force yet when it was made")},
		"it names another execution":              {change: func(a *remediationv1.ExecutionApproval) { a.Spec.ExecutionRef.Name = "low-risk" }, aside: aside("olga", "it names another execution")},
		"a bot asked":                             {bot: true, counts: true},
		"a bot asked that is the approver":        {bot: true, actsAs: true, aside: aside("olga", "that user may act as the ServiceAccount that asked for the execution")},
		"a bot asked that is the one who rejects": {bot: true, actsAs: true, counts: true, change: func(a *remediationv1.ExecutionApproval) { a.Spec.Decision = remediationv1.Rejected }},
		"it is about another execution":           {change: func(a *remediationv1.ExecutionApproval) { a.Spec.ExecutionRef.UID = "x0" }},
		"it is an acknowledgement":                {change: func(a *remediationv1.ExecutionApproval) { a.Spec.Decision = remediationv1.Acknowledged }},
	} {
		a := &remediationv1.ExecutionApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", CreationTimestamp: made},
			Spec: remediationv1.ExecutionApprovalSpec{
				ExecutionRef: remediationv1.ExecutionRef{Name: "more", UID: "x1"}, PlanDigest: "d1", Decision: remediationv1.Approved, Approver: &meta.Requester{Username: "olga"},
			},
		}
		if tc.change != nil {
			tc.change(a)
		}
		scheme := runtime.NewScheme()
		if err := remediationv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		o := Decisions{
			Live:     read.Live{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(a).Build()},
			Policies: func(context.Context) (guard.Verdict, error) { return tc.verdict, nil },
			May: func(_ context.Context, _ *meta.Requester, what read.Right) (read.Access, error) {
				approves := what.Verb == remediationv1.VerbApprove && what.Name == "more"
				return read.Access{Allowed: approves && !tc.mayNot || what.Verb == "impersonate" && tc.actsAs}, nil
			},
		}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Spec.Requester = &meta.Requester{Username: "dora"}
		if tc.bot {
			x.Spec.Requester.Username = "system:serviceaccount:shop:bot"
		}
		counted, set, err := o.on(t.Context(), x)
		if diff := cmp.Diff(tc.aside, set); diff != "" || err != nil || tc.counts != (len(counted) == 1) {
			t.Errorf("%s: %d count; %s, %v", name, len(counted), diff, err)
		}
	}
}
