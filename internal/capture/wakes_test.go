package capture

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
)

func wiring() setuptest.Wiring {
	waker := &kube.Waker{}
	w := setuptest.Wiring{
		Area: Area(Defaults()), Indexes: Indexes(), Lists: 6,
		Wakes: slices.Concat(KeeperWakes(waker), VolumeCaptureWakes(Defaults(), waker), VolumeRestoreWakes(),
			ManifestCaptureWakes(waker), ManifestRestoreWakes(waker)),
	}
	for _, name := range []string{"data", volumecapture.ContentPrefix + "u1", volumecapture.HolderName("u1")} {
		w.Changed = append(w.Changed, func(obj client.Object) {
			obj.SetNamespace(Defaults().Namespace)
			obj.SetName(name)
			obj.SetUID("u1")
		})
	}
	return w
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
	c, err := wiring().Caches()
	if err != nil {
		t.Fatal(err)
	}
	if c.Check(&corev1.PersistentVolumeClaim{}) == nil {
		t.Error("claims are cached whole; their names are enough")
	}
}
