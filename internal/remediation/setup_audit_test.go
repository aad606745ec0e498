package remediation

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// silent takes everything, and has nothing of before.
type silent struct{}

func (silent) Append(context.Context, string, string) (audit.Record, error) {
	return audit.Record{}, nil
}
func (silent) Has(context.Context, []string) (map[string]bool, error) { return nil, nil }

// TestWhatIsNotRecordedStays: with the execution, or the request of which it is a step, its record could not be made any more.
func TestWhatIsNotRecordedStays(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "step", UID: "x1"}}
	x.Spec.Parent = &remediationv1.ParentRef{Name: "repair", UID: "r1"}
	x.Status.Phase, x.Status.CompletionTimestamp = "completed", &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	rr := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1"}}
	other := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other", UID: "r2"}}
	yes := &remediationv1.ExecutionApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yes", UID: "a1"}}
	yes.Spec.ExecutionRef = remediationv1.ExecutionRef{Name: "step", UID: "x1"}
	e := kube.Env{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(x, rr, other, yes).Build()}
	records := &Audit{recorder: &act.Recorder{Cached: e.Cached(), Log: silent{}, Mine: func(read.Key) bool { return true }, Left: func(int) {}}}
	spares := records.spares(e)
	for _, recorded := range []bool{false, true} {
		ofExecution, err := spares(t.Context(), x)
		if err != nil || ofExecution == recorded {
			t.Errorf("recorded: %t, spared: %t, %v", recorded, ofExecution, err)
		}
		if ofRequest, err := spares(t.Context(), rr); err != nil || ofRequest == recorded {
			t.Errorf("recorded: %t, the request is spared: %t, %v", recorded, ofRequest, err)
		}
		if ofOther, err := spares(t.Context(), other); err != nil || ofOther {
			t.Errorf("a request without steps is spared: %t, %v", ofOther, err)
		}
		if records.lacks(yes) == recorded {
			t.Errorf("recorded: %t, and the other is said of the decision", recorded)
		}
		if err := records.recorder.Record(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if (*Audit)(nil).lacks(yes) {
		t.Error("without a database a record of a decision is awaited")
	}
	if (*Audit)(nil).spares(e) != nil {
		t.Error("without a database something is spared")
	}
}

// TestFlagsWithoutADatabase: to require records that go nowhere is a mistake, not a wish to have none.
func TestFlagsWithoutADatabase(t *testing.T) {
	for _, c := range []AuditConfig{{Required: true}, {KeyFile: "keys"}} {
		if _, err := setupAudit(nil, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if records, err := setupAudit(nil, AuditConfig{}); records != nil || err != nil {
		t.Errorf("%v, %v", records, err)
	}
}
