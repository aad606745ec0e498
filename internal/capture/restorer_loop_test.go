package capture

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// A request that is done, another driver's or gone needs no timer: it is new in every look,
// because nothing is remembered of it, and would be looked at again at once.
func TestRestorerRestsOnWhatIsNotItsOwn(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	done := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "done", UID: "r1"}}
	done.Status.Phase = volumerestore.Succeeded
	others := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "others", UID: "r2"}}
	others.Status.Phase = volumerestore.Restoring
	others.Status.Source = &capturev1.ResolvedSource{Driver: "another.example.com", SnapshotHandle: "s"}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(done, others).Build()
	r := NewRestorer(kube.Env{Client: c, Live: c, Now: time.Now}, csi.NewFake(), RestorerConfig{Driver: "disks.example.com", Namespace: "csi"})
	for _, key := range []reconcile.Request{
		{NamespacedName: RestoreKey("shop", "done", "r1", "data")},
		{NamespacedName: RestoreKey("shop", "others", "r2", "data")},
		{NamespacedName: RestoreKey("shop", "gone", "r3", "data")},
	} {
		for range 2 {
			if result, err := r.Reconcile(t.Context(), key); err != nil || result != (reconcile.Result{}) {
				t.Errorf("%s: %+v, %v", key.Name, result, err)
			}
		}
	}
	if len(r.places) > 0 {
		t.Errorf("remembers %v", r.places)
	}
}
