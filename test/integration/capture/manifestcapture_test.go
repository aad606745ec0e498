package capture

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/product"
)

// tenant lets the objects of a namespace be captured, and whatever other roles allow.
func tenant(t testing.TB, c client.Client, namespace string, roles ...string) {
	t.Helper()
	for _, role := range append(roles, "statecraft-capture-tenant") {
		create(t, c, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "statecraft-capture"}},
		})
	}
	aggregated(t, c)
}

// aggregated waits until the API server has put together what a tenant may read.
func aggregated(t testing.TB, c client.Client) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		var role rbacv1.ClusterRole
		if err := c.Get(t.Context(), client.ObjectKey{Name: "statecraft-capture-tenant"}, &role); err != nil {
			return err
		}
		if len(role.Rules) == 0 {
			return fmt.Errorf("the role has no rules yet")
		}
		return nil
	})
}

func mcr(namespace, name string, spec capturev1.ManifestCaptureRequestSpec) *capturev1.ManifestCaptureRequest {
	return &capturev1.ManifestCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
}

// of selects resources of the core group.
func of(resources ...string) *capturev1.ManifestSelector {
	s := &capturev1.ManifestSelector{}
	for _, r := range resources {
		s.Resources = append(s.Resources, capturev1.ManifestResource{Resource: r})
	}
	return s
}

// ended waits for the end of a capture, and says why it ended.
func ended(t testing.TB, c client.Client, r *capturev1.ManifestCaptureRequest) meta.Reason {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if r.Status.CompletionTimestamp == nil {
			return fmt.Errorf("%s is %s: %s", r.Name, r.Status.Phase, r.Status.WaitingFor)
		}
		return nil
	})
	return meta.Reason(apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready).Reason)
}

// succeeded waits until a capture is Ready.
func succeeded(t testing.TB, c client.Client, r *capturev1.ManifestCaptureRequest) {
	t.Helper()
	if why := ended(t, c, r); why != capturev1.ReasonCompleted {
		t.Fatalf("%s ended %s: %+v", r.Name, why, r.Status.Failure)
	}
}

func TestACaptureHoldsWhatWasThere(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	tenant(t, c, namespace)
	for _, name := range []string{"first", "second"} {
		cm := configMap(namespace, name)
		cm.Data, cm.Finalizers = map[string]string{"is": name}, []string{"example.com/ours"}
		create(t, c, cm)
		t.Cleanup(func() { // else the namespace would never go
			cm.Finalizers = nil
			_ = c.Patch(context.Background(), cm, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		})
	}
	r := mcr(namespace, "both", capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps")})
	create(t, c, r)
	succeeded(t, c, r)

	point, objects, err := bulk.Captured(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Expected != 2 || r.Status.Captured != 2 || point.Spec.Objects != 2 || len(objects) != 2 {
		t.Errorf("expected %d, captured %d, listed %d, there %d, want 2", r.Status.Expected, r.Status.Captured, point.Spec.Objects, len(objects))
	}
	for i, name := range []string{"first", "second"} {
		want := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"is": name}}
		if diff := cmp.Diff(want, objects[i].Object); diff != "" {
			t.Error(diff)
		}
	}
	if s := r.Status.Skipped; len(s) != 1 || s[0].Count != 1 || s[0].Names[0] != "kube-root-ca.crt" {
		t.Errorf("skipped %+v", s)
	}
	var keeper capturev1.ObjectKeeper
	if err := c.Get(t.Context(), client.ObjectKey{Name: "request-" + string(r.UID)}, &keeper); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(point, &keeper) {
		t.Errorf("the checkpoint belongs to %+v", point.OwnerReferences)
	}
}
