package remediation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// TestWhatEndsOwnsNoTarget: a target is not freed by a controller that anyone can make and name, such as an execution.
func TestWhatEndsOwnsNoTarget(t *testing.T) {
	owner := &remediationv1.RemediationRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1"}}
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	target.SetNamespace("shop")
	target.SetName("web")
	target.SetUID("t1")
	target.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, requestKind)})
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(owner).Build()
	ref, err := reserves(t.Context(), kube.Env{Client: c, Live: c, Kinds: Kinds()}, target)
	if err != nil || ref.UID != "t1" {
		t.Errorf("%s is reserved for the target, %v", ref.Title(), err)
	}
}
