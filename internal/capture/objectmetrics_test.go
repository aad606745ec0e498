package capture

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// aCapture is a snapshot of claim shop/data, whose UID is c1, that was completed in this second.
func aCapture(name string, second int64, change func(*capturev1.VolumeCaptureRequest)) *capturev1.VolumeCaptureRequest {
	r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	r.Spec.Target.Name, r.Spec.Mode = "data", capturev1.Snapshot
	r.Status.Phase = volumecapture.Succeeded
	r.Status.Origin = &capturev1.Origin{Claim: "data", ClaimUID: "c1"}
	r.Status.CompletionTimestamp = ptr.To(metav1.Unix(second, 0))
	if change != nil {
		change(r)
	}
	return r
}

func aClaim(uid types.UID) client.Object {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", UID: uid}}
}

// The last snapshot of a claim counts, of the very claim that is there.
func TestTheLastCaptureOfAClaim(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		there []client.Object
		want  int64 // 0 is no series
	}{
		"one":                        {[]client.Object{aClaim("c1"), aCapture("a", 100, nil)}, 100},
		"the last of several":        {[]client.Object{aClaim("c1"), aCapture("a", 100, nil), aCapture("b", 300, nil), aCapture("c", 200, nil)}, 300},
		"the claim is gone":          {[]client.Object{aCapture("a", 100, nil)}, 0},
		"another claim has the name": {[]client.Object{aClaim("c2"), aCapture("a", 100, nil)}, 0},
		"a later one failed": {[]client.Object{aClaim("c1"), aCapture("a", 100, nil), aCapture("b", 200, func(r *capturev1.VolumeCaptureRequest) {
			r.Status.Phase = volumecapture.Failed
		})}, 100},
		"a detached volume has no claim": {[]client.Object{aClaim("c1"), aCapture("a", 100, func(r *capturev1.VolumeCaptureRequest) {
			r.Spec.Mode = capturev1.Detach
		})}, 0},
	} {
		cached := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.there...).Build()
		list, err := capturedClaims(t.Context(), kube.Env{Client: cached, Live: cached, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == 0 && len(list) == 0:
		case len(list) != 1 || list[0].at.Unix() != c.want || list[0].Name != "data" || list[0].Namespace != "shop":
			t.Errorf("%s: %v, want %d", what, list, c.want)
		}
	}
}
