package valkey

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// TestWakesGoByIndex: no event costs a list of all objects.
func TestWakesGoByIndex(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	cached := &kubetest.IndexedReader{Scheme: scheme, Indexes: map[string]bool{}}
	for _, i := range Indexes() {
		name, err := kubetest.IndexName(i.Of, i.Name, scheme)
		if err != nil {
			t.Fatal(err)
		}
		cached.Indexes[name] = true
	}
	for _, w := range slices.Concat(ClusterWakes(&kube.Waker{}), UpgradeWakes()) {
		if w.Find == nil {
			continue
		}
		obj := w.Of.DeepCopyObject().(client.Object)
		obj.SetNamespace("shop")
		obj.SetName("web")
		obj.SetLabels(map[string]string{valkeyv1.ClusterLabel: "web"})
		obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))})
		obj.SetAnnotations(map[string]string{"statecraft.dev/target": "ValkeyCluster.valkey.statecraft.dev/shop/web/u1"})
		if w.Find(t.Context(), cached, obj); cached.Err != nil {
			t.Errorf("wake %s of %T: %v", w.Name, w.Of, cached.Err)
		}
	}
	if cached.Lists < 3 {
		t.Errorf("only %d lists were tried", cached.Lists)
	}
}
