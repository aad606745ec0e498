package observe

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestWhatANamespaceKeepsIsCounted: by keepers, of this kind, without the request's own.
func TestWhatANamespaceKeepsIsCounted(t *testing.T) {
	var keepers []client.Object
	for i, of := range []struct {
		namespace types.UID
		kind      string
	}{{"n1", "VolumeCaptureRequest"}, {"n1", "VolumeCaptureRequest"}, {"n1", "VolumeCaptureRequest"}, {"n1", "ManifestCaptureRequest"}, {"n2", "VolumeCaptureRequest"}} {
		uid := types.UID(fmt.Sprintf("r%d", i))
		k := request.NewKeeper(&metav1.ObjectMeta{UID: uid}, capturev1.GroupVersion.WithKind(of.kind), of.namespace, request.Terms{})
		k.UID = "k-" + uid
		keepers = append(keepers, k)
	}
	scheme := serving(t).Scheme()
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(keepers...).WithIndex(&capturev1.ObjectKeeper{}, KeptIndex, func(obj client.Object) []string {
		ref := obj.(*capturev1.ObjectKeeper).Spec.FollowRef
		return []string{KeptIn(ref.NamespaceUID, ref.Kind)}
	}).Build()
	for what, tc := range map[string]struct {
		limits  request.Limits
		keeping request.Keeping
		want    int
	}{
		"a new request":                      {request.Limits{Captures: 5}, request.Keeping{Namespace: "n1"}, 3},
		"one that has a keeper":              {request.Limits{Captures: 5}, request.Keeping{Namespace: "n1", UID: "k-r1"}, 2},
		"a namespace that has none":          {request.Limits{Captures: 5}, request.Keeping{Namespace: "n3"}, 0},
		"nobody limits it":                   {request.Limits{}, request.Keeping{Namespace: "n1"}, 0},
		"its namespace is not known, so far": {request.Limits{Captures: 5}, request.Keeping{}, 0},
	} {
		got, err := Keeping{Cached: c}.limits(t.Context(), tc.limits, "VolumeCaptureRequest", tc.keeping)
		if err != nil || got.Kept != tc.want || got.Captures != tc.limits.Captures {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func TestWhatCheckpointsHoldIsCounted(t *testing.T) {
	var points []client.Object
	for i, namespace := range []types.UID{"n1", "n1", "n2"} {
		p := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}
		p.Spec.Origin.NamespaceUID, p.Spec.Bytes = namespace, int64(1+i)
		points = append(points, p)
	}
	all, own, err := Held(t.Context(), read.Live{Reader: serving(t, points...)}, "n1")
	if err != nil || all != 6 || own != 3 {
		t.Errorf("%d bytes, %d of the namespace: %v", all, own, err)
	}
}
