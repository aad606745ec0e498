package remediation

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
)

func wiring() setuptest.Wiring {
	return setuptest.Wiring{
		Area: Area(Defaults(), policyfake.Allowing()), Wakes: ExecutionWakes(&kube.Waker{}), Indexes: Indexes(),
		Changed: []func(client.Object){func(obj client.Object) {
			obj.SetNamespace("shop")
			obj.SetName("more")
			obj.SetLabels(map[string]string{remediationv1.ExecutionLabel: "x1"})
			obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, executionKind)})
			obj.SetAnnotations(map[string]string{"statecraft.dev/target": "Deployment.apps/shop/web/t1"})
		}},
		Lists: 1,
	}
}

// TestWakesGoByIndex: no event costs a list of all executions.
func TestWakesGoByIndex(t *testing.T) {
	w := wiring()
	w.Lists = 2 // executions on a target, and those of a request
	if err := w.Indexed(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCachesHaveWhatWakesAndIndexesNeed(t *testing.T) {
	if err := wiring().Cached(); err != nil {
		t.Error(err)
	}
}

// ofRequests is the wiring of requests.
func ofRequests() setuptest.Wiring {
	w := wiring()
	w.Wakes = RequestWakes()
	w.Changed = []func(client.Object){func(obj client.Object) {
		obj.SetNamespace("shop")
		obj.SetName("repair")
		obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, requestKind)})
		obj.SetAnnotations(map[string]string{"statecraft.dev/target": "Deployment.apps/shop/web/t1"})
	}}
	return w
}

func TestWakesOfRequestsGoByIndex(t *testing.T) {
	if err := ofRequests().Indexed(t.Context()); err != nil {
		t.Error(err)
	}
	if err := ofRequests().Cached(); err != nil {
		t.Error(err)
	}
}

// TestRequestsAreFoundByTheirTargets, all of them, once these are saved.
func TestRequestsAreFoundByTheirTargets(t *testing.T) {
	rr := &remediationv1.RemediationRequest{}
	rr.Status.Targets = []remediationv1.ReservedTarget{{UID: "t1"}, {UID: "t2"}}
	index := reservedIndex()
	if uids := index.Values(rr); !slices.Equal(uids, []string{"t1", "t2"}) {
		t.Errorf("%v", uids)
	}
	if uids := index.Values(&remediationv1.KubernetesExecution{}); uids != nil {
		t.Errorf("an execution is found as a request: %v", uids)
	}
}

// TestWakesFindTheirExecutions: by the names that approvals and rollbacks bear.
func TestWakesFindTheirExecutions(t *testing.T) {
	for name, obj := range map[string]client.Object{
		"approvals": &remediationv1.ExecutionApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yes"},
			Spec:       remediationv1.ExecutionApprovalSpec{ExecutionRef: remediationv1.ExecutionRef{Name: "more", UID: "x1"}},
		},
		"executions": &remediationv1.KubernetesExecution{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back"},
			Spec:       remediationv1.KubernetesExecutionSpec{RollbackOf: &remediationv1.ExecutionRef{Name: "more", UID: "x1"}},
		},
	} {
		for _, wake := range ExecutionWakes(&kube.Waker{}) {
			if wake.Name != name {
				continue
			}
			keys := wake.Find(t.Context(), nil, obj)
			if len(keys) != 1 || keys[0].Namespace != "shop" || keys[0].Name != "more" {
				t.Errorf("wake %s: %v", name, keys)
			}
		}
	}
}
