package capture

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	stored "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestARoundTrip captures a namespace, Secrets included, and restores it into another. The
// restore is asked for before the capture has ended, and waits for it.
func TestARoundTrip(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	from := bedtest.Namespace(t, s.bed)
	for _, obj := range objectsOf(t, shop) {
		obj.SetNamespace(from)
		obj.SetOwnerReferences(nil)
		create(t, s.c, obj)
	}
	tenant(t, s.c, from, secretReader(t, s.c))
	create(t, s.c, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: stored.KeysSecret},
		Data:       map[string][]byte{"active": []byte("k1"), "k1": []byte("0123456789abcdef0123456789abcdef")},
	})
	capture := mcr(from, "nightly", capturev1.ManifestCaptureRequestSpec{
		Selector: of("configmaps", "secrets", "services", "serviceaccounts", "persistentvolumeclaims"), IncludeSecrets: true,
		Volumes: []capturev1.ManifestVolume{empty},
	})
	capture.Spec.Targets = []capturev1.ManifestTarget{{Group: "apps", Resource: "deployments", Name: "web"}}
	create(t, s.c, capture)
	r := s.ask("copy", &capturev1.ManifestCheckpoint{}, func(spec *capturev1.ManifestRestoreRequestSpec) {
		spec.Source = capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "nightly", Namespace: from}}
	})
	succeeded(t, s.c, capture)
	s.ends(r, capturev1.ReasonCompleted)
	if got := s.get(&corev1.Secret{}, "password").(*corev1.Secret).Data["password"]; string(got) != "canary-secret" {
		t.Errorf("the Secret holds %q", got)
	}
	if got := s.get(&corev1.ConfigMap{}, "settings").(*corev1.ConfigMap).Data["theme"]; got != "dark" {
		t.Errorf("the settings hold %q", got)
	}
	if r.Status.CheckpointRef == nil || r.Status.CheckpointRef.UID != capture.Status.CheckpointRef.UID {
		t.Errorf("it restored %+v, not %+v", r.Status.CheckpointRef, capture.Status.CheckpointRef)
	}
}

// secretReader is a role by which Secrets can be captured.
func secretReader(t *testing.T, c client.Client) string {
	t.Helper()
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "list-secrets"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
	})
	return "list-secrets"
}

// TestACaptureThatNamesTheCheckpointOfAnother: whoever could write a status must not restore
// what is somebody else's.
func TestACaptureThatNamesTheCheckpointOfAnother(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	theirs := checkpointOf(t, s.c, objectsOf(t, shop), empty)
	forged := mcr(s.namespace, "forged", capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps")})
	create(t, s.c, forged)
	forged.Status.Phase, forged.Status.ObservedGeneration = "Succeeded", forged.Generation
	now := metav1.Now()
	forged.Status.CompletionTimestamp = &now
	forged.Status.CheckpointRef = &capturev1.ArtifactRef{APIVersion: "capture.statecraft.dev/v1alpha1", Kind: "ManifestCheckpoint", Name: theirs.Name, UID: theirs.UID}
	forged.Status.Conditions = []metav1.Condition{condition(fsm.Ready, metav1.ConditionTrue)}
	if err := s.c.Status().Update(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	m.Start()
	r := s.ask("steal", theirs, func(spec *capturev1.ManifestRestoreRequestSpec) {
		spec.Source = capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "forged"}}
	})
	s.ends(r, capturev1.ReasonInvalidTarget)
	if s.uidOf(&corev1.Secret{}, "password") != "" {
		t.Error("somebody else's Secret was restored")
	}
}

// TestWithoutAnAccountNothingIsRestored: a namespace that gave its account no rights is told so.
func TestWithoutAnAccountNothingIsRestored(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	if err := s.c.Delete(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: act.Account}}); err != nil {
		t.Fatal(err)
	}
	r := s.ends(s.ask("no-rights", checkpointOf(t, s.c, objectsOf(t, shop), empty), nil), capturev1.ReasonForbidden)
	if got := resultOf(r, "secrets", "password"); got.Message == "" || got.Reason != capturev1.ReasonForbidden {
		t.Errorf("it does not say what is missing: %+v", got)
	}
}
