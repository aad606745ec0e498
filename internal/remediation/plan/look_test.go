package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// TestADryRunIsForAnyVersion of the very object: a controller that writes the target all the time keeps no look from ending.
func TestADryRunIsForAnyVersion(t *testing.T) {
	d := New(&remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{UID: "e1"}}, "statecraft-system", "image")
	d.object = map[string]any{"metadata": map[string]any{"name": "web", "uid": "u1", "resourceVersion": "10"}}
	d.change = action.Change{Patch: map[string]any{"spec": map[string]any{"replicas": int64(5)}}}
	patch, target := d.Patch()
	want := map[string]any{
		"metadata": map[string]any{"uid": "u1", "annotations": map[string]any{"remediation.statecraft.dev/last-action": "e1/done"}},
		"spec":     map[string]any{"replicas": int64(5)},
	}
	if diff := cmp.Diff(want, patch); diff != "" || target.GetUID() != "u1" {
		t.Errorf("%s: %s", target.GetUID(), diff)
	}
}
