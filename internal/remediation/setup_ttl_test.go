package remediation

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestDecisionsGo with their execution, a time after any of them could count. An acknowledgement stays while its mark is there.
func TestDecisionsGo(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	decision := func(name string, of types.UID, what remediationv1.ApprovalDecision, age time.Duration) client.Object {
		return &remediationv1.ExecutionApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-age))},
			Spec:       remediationv1.ExecutionApprovalSpec{ExecutionRef: remediationv1.ExecutionRef{Name: "more", UID: of}, Decision: what},
		}
	}
	const old, young = 26 * time.Hour, 24 * time.Hour // of a term of one hour, after a day
	approved, rejected, acknowledged := remediationv1.Approved, remediationv1.Rejected, remediationv1.Acknowledged
	objects := []client.Object{
		&remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "is there"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "reservation-t1", Annotations: map[string]string{
			read.UnresolvedAnnotation: `{"by":"KubernetesExecution.remediation.statecraft.dev/shop/more/marked"}`,
		}}},
		decision("old-approval", "gone", approved, old), decision("old-rejection", "gone", rejected, old), decision("old-acknowledgement", "gone", acknowledged, old),
		decision("young-approval", "gone", approved, young), decision("approval-in-use", "is there", approved, old),
		decision("rejection-in-use", "is there", rejected, old), decision("acknowledgement-in-use", "marked", acknowledged, old),
		decision("approval-of-a-mark", "marked", approved, old),
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, remediationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var deleted []string
	hooks := interceptor.Funcs{Delete: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.DeleteOption) error {
		deleted = append(deleted, obj.GetName())
		return nil
	}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(hooks).WithObjects(objects...).Build()
	env := kube.Env{Client: c, Live: c, Namespace: "system", Now: func() time.Time { return now }}
	if err := NewScanner(env, Config{TTLCompleted: time.Hour}, nil).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(deleted)
	if diff := cmp.Diff([]string{"approval-of-a-mark", "old-acknowledgement", "old-approval", "old-rejection"}, deleted); diff != "" {
		t.Error(diff)
	}
}
