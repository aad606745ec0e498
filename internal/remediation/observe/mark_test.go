package observe

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// TestAMarkIsFoundOnTheTarget: a user who gives the target another owner moves its reservation, and not its mark.
func TestAMarkIsFoundOnTheTarget(t *testing.T) {
	for marked, want := range map[types.UID]bool{"t1": true, "c1": true, "t2": false} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: "system", Name: read.LeaseName(marked),
			Annotations: map[string]string{read.UnresolvedAnnotation: `{"by":"KubernetesExecution.remediation.statecraft.dev/shop/more/x0","requester":"dora"}`},
		}}
		c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(lease).Build()
		o := Execution{Reservations: read.Reservations{
			Live: read.Live{Reader: c}, Namespace: "system",
			Alive: func(context.Context, read.Ref) (bool, error) { return false, nil },
		}}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Status.Phase = execution.Executing
		x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
		w := execution.World{Look: execution.Look{Reserves: reserve.Ref{Kind: "ValkeyCluster.valkey.statecraft.dev", Namespace: "shop", Name: "cache", UID: "c1"}}}
		if err := o.reservation(t.Context(), x, &w); err != nil || (w.Target.Unresolved != nil) != want {
			t.Errorf("%s is marked: %+v, %v", marked, w.Target, err)
		}
	}
}
