package capture

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
		woken := false
		for _, w := range VolumeCaptureWakes(Config{Namespace: "system"}, nil) {
			if slices.ContainsFunc(w.Optional, func(k schema.GroupVersionKind) bool { return k.Kind == tc.kind }) {
				woken = woken || len(w.Keys(t.Context(), indexOf{r}, nil, obj)) > 0
			}
		}
		if woken != tc.want {
			t.Errorf("%s: %v", name, woken)
		}
	}
	if r.Status.Phase = volumecapture.Failed; len(wakesCapture(r)) > 0 {
		t.Error("a request that has ended can be woken")
	}
}

// indexOf finds a capture by the index.
type indexOf struct {
	*capturev1.VolumeCaptureRequest
}

func (i indexOf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("wakes list")
}

func (i indexOf) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	for _, want := range o.FieldSelector.Requirements() {
		if want.Field == wokenBy && slices.Contains(wakesCapture(i.VolumeCaptureRequest), want.Value) {
			list.(*capturev1.VolumeCaptureRequestList).Items = []capturev1.VolumeCaptureRequest{*i.VolumeCaptureRequest}
		}
	}
	return nil
}
