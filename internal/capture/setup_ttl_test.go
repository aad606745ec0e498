package capture

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// failedCapture is a request that failed an hour before the scan.
func failedCapture(name string) *capturev1.VolumeCaptureRequest {
	r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u"}}
	r.Status.Progress, r.Status.Completion = failedAt(scanned.Add(-time.Hour))
	return r
}

var scanned = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func failedAt(at time.Time) (meta.Progress, capturev1.Completion) {
	return meta.Progress{Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse}}},
		capturev1.Completion{CompletionTimestamp: &metav1.Time{Time: at}}
}

// TestOnlyOldCapturesGo scans requests of all kinds: restores are not even read.
func TestOnlyOldCapturesGo(t *testing.T) {
	detached, annotated, succeeded := failedCapture("detached"), failedCapture("annotated"), failedCapture("succeeded")
	detached.Spec.Mode = capturev1.Detach
	for _, r := range []*capturev1.VolumeCaptureRequest{annotated, succeeded} {
		r.Annotations = map[string]string{"capture.statecraft.dev/ttl": "1s"}
		r.Status.Conditions[0].Status = metav1.ConditionTrue
	}
	manifests := &capturev1.ManifestCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "manifests", UID: "u"}}
	manifests.Status.Progress, manifests.Status.Completion = failedAt(scanned.Add(-time.Hour))
	volume := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "volume-again", UID: "u"}}
	volume.Status.Progress, volume.Status.Completion = failedAt(scanned.Add(-time.Hour))
	again := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "manifests-again", UID: "u"}}
	again.Status.Progress, again.Status.Completion = failedAt(scanned.Add(-time.Hour))

	var listed, deleted []string
	hooks := interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			listed = append(listed, fmt.Sprintf("%T", list))
			return c.List(ctx, list, opts...)
		},
		Delete: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.DeleteOption) error {
			deleted = append(deleted, obj.GetName())
			return nil
		},
	}
	scheme := runtime.NewScheme()
	if err := capturev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(hooks).
		WithObjects(failedCapture("volume"), detached, annotated, succeeded, manifests, volume, again).Build()
	env := kube.Env{Client: c, Live: c, Now: func() time.Time { return scanned }}
	if err := NewScanner(env, Config{TTLFailed: time.Hour}).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"volume", "manifests"}, deleted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"*v1alpha1.VolumeCaptureRequestList", "*v1alpha1.ManifestCaptureRequestList"}, listed); diff != "" {
		t.Error(diff)
	}
}
