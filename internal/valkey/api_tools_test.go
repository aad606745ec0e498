package valkey

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestToolsWaitForWhatNobodyHasLookedAt: Flux, Argo CD and Helm must not take what was just made for done.
func TestToolsWaitForWhatNobodyHasLookedAt(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c, name := newClient(t, b), metav1.ObjectMeta{Namespace: bedtest.Namespace(t, b), Name: "web"}
	for kind, obj := range map[string]client.Object{
		"ValkeyCluster": &valkeyv1.ValkeyCluster{ObjectMeta: name},
		"ValkeyUpgrade": &valkeyv1.ValkeyUpgrade{ObjectMeta: name, Spec: valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: "web"}}},
	} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		is := &unstructured.Unstructured{}
		is.SetGroupVersionKind(valkeyv1.GroupVersion.WithKind(kind))
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), is); err != nil {
			t.Fatal(err)
		}
		if got, err := status.Compute(is); err != nil || got.Status != status.InProgressStatus {
			t.Errorf("%s is seen as %+v: %v", kind, got, err)
		}
	}
}
