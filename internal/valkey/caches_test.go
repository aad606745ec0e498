package valkey

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// TestCachesShowWhatIsOurs: everything that the area makes, and the pods that are made by it, have the label by
// which caches select; objects of others are not held.
func TestCachesShowWhatIsOurs(t *testing.T) {
	c, err := wiring().Caches()
	if err != nil {
		t.Fatal(err)
	}
	of := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: valkeyv1.ValkeyClusterSpec{
		Masters: 3, Persistence: valkeyv1.Persistence{Enabled: true},
	}}
	for _, child := range (spec.Builder{NodeImage: "node"}).Children(of, 3) {
		if !c.Shows(child.(client.Object)) {
			t.Errorf("%s %s is not cached", spec.KindOf(child), child.GetName())
		}
		if set, is := child.(*appsv1.StatefulSet); is && !c.Shows(&corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta}) {
			t.Errorf("pods of %s are not cached", set.Name)
		}
		if set, is := child.(*appsv1.StatefulSet); is && !c.Shows(&corev1.PersistentVolumeClaim{ObjectMeta: set.Spec.VolumeClaimTemplates[0].ObjectMeta}) {
			t.Errorf("claims of %s are not cached", set.Name)
		}
	}
	for _, other := range []client.Object{
		&corev1.Service{}, &corev1.ConfigMap{}, &corev1.Pod{}, &policyv1.PodDisruptionBudget{}, &appsv1.StatefulSet{},
		&corev1.PersistentVolumeClaim{},
	} {
		if c.Shows(other) {
			t.Errorf("every %T of the cluster is cached", other)
		}
	}
	for _, live := range []client.Object{&corev1.Secret{}, &appsv1.ControllerRevision{}} {
		if c.Check(live) == nil {
			t.Errorf("%T is cached; it is to be read live", live)
		}
	}
}
