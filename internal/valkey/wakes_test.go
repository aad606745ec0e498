package valkey

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
)

func wiring() setuptest.Wiring {
	return setuptest.Wiring{
		Area: Area(Options{}), Wakes: append(ClusterWakes(&kube.Waker{}), UpgradeWakes()...), Indexes: Indexes(),
		Changed: []func(client.Object){func(obj client.Object) {
			obj.SetNamespace("shop")
			obj.SetName("web")
			obj.SetLabels(map[string]string{valkeyv1.ClusterLabel: "web"})
			obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))})
			obj.SetAnnotations(map[string]string{"statecraft.dev/target": "ValkeyCluster.valkey.statecraft.dev/shop/web/u1"})
		}},
		Lists: 3,
	}
}

// TestWakesGoByIndex: no event costs a list of all objects.
func TestWakesGoByIndex(t *testing.T) {
	if err := wiring().Indexed(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCachesHaveWhatWakesAndIndexesNeed(t *testing.T) {
	if err := wiring().Cached(); err != nil {
		t.Error(err)
	}
}
