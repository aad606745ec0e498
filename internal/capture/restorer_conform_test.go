package capture_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/capturetest"
	"github.com/statecraft-dev/statecraft/internal/kube/storetest"
)

// The same is tried on a real API server in test/integration/kube.
func TestRestoreStore(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Conform(t, capturetest.Restores(fake.NewClientBuilder().WithScheme(scheme).Build(), "csi"))
}
