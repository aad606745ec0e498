package capture

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestLeaksAreCountedWhenSeenTwice loses the keeper of a checkpoint, and then a list.
func TestLeaksAreCountedWhenSeenTwice(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	now, broken := time.Now(), error(nil)
	lost := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: "lost", CreationTimestamp: metav1.Time{Time: now.Add(-time.Hour)}}}
	lost.Spec.Bytes = 7
	hooks := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if _, ok := list.(*capturev1.ObjectKeeperList); ok && broken != nil {
			return broken
		}
		return c.List(ctx, list, opts...)
	}}
	live := read.Live{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(lost).WithInterceptorFuncs(hooks).Build()}
	w := &leakWatch{gatherer: leaks.Gatherer{Live: live, Namespace: "system"}, now: func() time.Time { return now }}
	for look, want := range []string{"", `
		# HELP statecraft_capture_leaks Captured artifacts that no keeper owns, and keepers of requests that are gone, in the last two looks.
		# TYPE statecraft_capture_leaks gauge
		statecraft_capture_leaks{kind="ManifestCheckpoint",reason="NoKeeper"} 1
	`} {
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := testutil.CollectAndCompare(metricLeaks, strings.NewReader(want)); err != nil {
			t.Errorf("look %d: %v", look, err)
		}
	}
	if got := testutil.ToFloat64(metricCheckpointBytes); got != 7 {
		t.Errorf("checkpoints hold %v bytes", got)
	}
	broken = errors.New("no list today")
	if err := w.look(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got := testutil.CollectAndCount(metricLeaks); got != 1 {
		t.Errorf("%d leaks after a look that saw nothing", got)
	}
}
