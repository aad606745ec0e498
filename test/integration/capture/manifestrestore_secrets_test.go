package capture

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestSecretsAreRestoredByWhoMaySeeThem: admission cannot know what a checkpoint holds, so the manager asks.
func TestSecretsAreRestoredByWhoMaySeeThem(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	keys(t, s.c, "k1")
	tenant(t, s.c, s.namespace, "statecraft-capture-tenant-secrets")
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "password"}, StringData: map[string]string{"password": captureCanary}}
	create(t, s.c, password)
	taken := mcr(s.namespace, "nightly", secretSpec())
	create(t, s.c, taken)
	succeeded(t, s.c, taken)
	if err := s.c.Delete(t.Context(), password); err != nil {
		t.Fatal(err)
	}

	harness.Grant(t, s.c, "clerk", s.namespace, requests)
	clerk := harness.ClientAs(t, s.bed, s.c, "clerk")
	by := func(name string) *capturev1.ManifestRestoreRequest {
		var r *capturev1.ManifestRestoreRequest
		harness.Eventually(t, soon, poll, func() error {
			r = manifestRestore(s.namespace, taken.Name, "", "")
			r.Name, r.GenerateName = name, ""
			r.Spec.ConflictPolicy = capturev1.ConflictSkip
			return clerk.Create(t.Context(), r)
		})
		return r
	}
	s.ends(by("without"), capturev1.ReasonForbidden)
	if s.uidOf(&corev1.Secret{}, password.Name) != "" {
		t.Error("a Secret was restored for somebody who may not see it")
	}
	harness.Grant(t, s.c, "clerk", s.namespace, harness.Rule("get", "", "secrets"))
	harness.Eventually(t, soon, poll, func() error { // RBAC learns
		return client.IgnoreNotFound(clerk.Get(t.Context(), client.ObjectKeyFromObject(password), &corev1.Secret{}))
	})
	s.ends(by("with"), capturev1.ReasonCompleted)
}
