package capture

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// TestWakesGoByIndex: no event costs a list of all objects.
func TestWakesGoByIndex(t *testing.T) {
	scheme, waker := runtime.NewScheme(), &kube.Waker{}
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cached := &kubetest.IndexedReader{Scheme: scheme, Indexes: map[string]bool{}}
	for _, i := range Indexes() {
		name, err := kubetest.IndexName(i.Of, i.Name, scheme)
		if err != nil {
			t.Fatal(err)
		}
		cached.Indexes[name] = true
	}
	for _, w := range slices.Concat(KeeperWakes(waker), VolumeCaptureWakes(Defaults(), waker), VolumeRestoreWakes(), ManifestCaptureWakes(waker), ManifestRestoreWakes(waker)) {
		if w.Find == nil {
			continue
		}
		var obj client.Object = &metav1.PartialObjectMetadata{}
		if w.Of != nil {
			obj = w.Of.DeepCopyObject().(client.Object)
		}
		for _, name := range []string{"data", volumecapture.ContentPrefix + "u1", volumecapture.HolderName("u1")} {
			obj.SetNamespace(Defaults().Namespace)
			obj.SetName(name)
			obj.SetUID("u1")
			if w.Find(t.Context(), cached, obj); cached.Err != nil {
				t.Errorf("wake %s: %v", w.Name, cached.Err)
			}
		}
	}
	if cached.Lists < 6 {
		t.Errorf("only %d lists were tried", cached.Lists)
	}
}
