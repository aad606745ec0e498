package capture

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
)

// What a change wakes must be in the index of the request that waits for it.
func TestWhatWakesACapture(t *testing.T) {
	r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1"}}
	r.Spec.Target.Name = "data"
	r.Status.Detached = &capturev1.DetachedVolume{Name: "pv1"}
	for name, tc := range map[string]struct {
		kind, namespace, name string
		want                  bool
	}{
		"its content":                     {"VolumeSnapshotContent", "", "capture-r1", true},
		"another's content":               {"VolumeSnapshotContent", "", "capture-r2", false},
		"a content of a VolumeSnapshot":   {"VolumeSnapshotContent", "", "snapcontent-r1", false},
		"its claim":                       {"PersistentVolumeClaim", "shop", "data", true},
		"a claim of that name elsewhere":  {"PersistentVolumeClaim", "farm", "data", false},
		"its holder":                      {"PersistentVolumeClaim", "system", "detached-r1", true},
		"a claim of that name in its own": {"PersistentVolumeClaim", "shop", "detached-r1", false},
		"its volume":                      {"PersistentVolume", "", "pv1", true},
		"another volume":                  {"PersistentVolume", "", "pv2", false},
	} {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: tc.name}}
		woken := slices.ContainsFunc(wakes(schema.GroupVersionKind{Kind: tc.kind}, obj, "system"), func(by string) bool {
			return slices.Contains(wakers(r), by)
		})
		if woken != tc.want {
			t.Errorf("%s: %v", name, woken)
		}
	}
	if r.Status.Phase = volumecapture.Failed; len(wakers(r)) > 0 {
		t.Error("a request that has ended can be woken")
	}
}
