//go:build full

package capture

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestSecurityOfSecrets: who may not see Secrets can neither capture nor restore nor read them, and nothing that the
// product writes or says holds one.
func TestSecurityOfSecrets(t *testing.T) {
	s := newStage(t)
	s.key("first")
	shop := s.team("shop")
	shop.makes(secret())
	shop.refused(shop.clerk, manifests("by-the-clerk", true), "may not get secrets")
	taken := manifests("nightly", true)
	shop.makes(taken)
	s.succeeds(taken)

	again := manifestsBack("by-the-clerk", "", taken.Name)
	again.Namespace = shop.namespace
	if err := shop.clerk.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	shop.fails(again, string(capturev1.ReasonForbidden))
	var chunks capturev1.ManifestCheckpointContentChunkList
	for who, c := range map[string]client.Client{"the clerk": shop.clerk, "the team": shop.c} {
		if err := c.List(t.Context(), &chunks); !apierrors.IsForbidden(err) {
			t.Errorf("%s reads what is stored: %v", who, err)
		}
	}

	lost := secret()
	lost.Namespace = shop.namespace
	s.Delete(lost)
	back := manifestsBack("by-the-team", "", taken.Name)
	shop.makes(back)
	s.succeeds(back)
	got := secret()
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: shop.namespace, Name: got.Name}, got); err != nil || string(got.Data["password"]) != canary {
		t.Errorf("the Secret is not as it was: %v", err)
	}
	s.untold(shop.namespace)
}

// untold says that nothing of ours has told the Secret: what is stored, what is said of requests, events, and logs.
func (s *stage) untold(namespace string) {
	s.T.Helper()
	told := map[string]string{"the log": s.Manager.Log()}
	for what, list := range map[string]client.ObjectList{
		"chunks": &capturev1.ManifestCheckpointContentChunkList{}, "checkpoints": &capturev1.ManifestCheckpointList{}, "events": &corev1.EventList{},
		"captures": &capturev1.ManifestCaptureRequestList{}, "restores": &capturev1.ManifestRestoreRequestList{}, "config maps": &corev1.ConfigMapList{},
	} {
		if err := s.Client.List(s.T.Context(), list); err != nil {
			s.T.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			s.T.Fatal(err)
		}
		told[what] = string(text)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	for what, text := range told {
		if strings.Contains(text, canary) || strings.Contains(text, encoded) {
			s.T.Errorf("%s of %s tell a Secret", what, namespace)
		}
	}
}

// TestSecurityOfKeys: a checkpoint is read with the key that it was written with, also after another became active.
// Without it nothing is guessed.
func TestSecurityOfKeys(t *testing.T) {
	s := newStage(t)
	s.key("first")
	shop := s.team("shop")
	shop.makes(secret())
	taken := manifests("nightly", true)
	shop.makes(taken)
	s.succeeds(taken)

	s.rotate("second")
	later := manifestsBack("after-rotation", "", taken.Name)
	shop.makes(later)
	s.succeeds(later)
	fresh := manifests("with-the-second", true)
	shop.makes(fresh)
	s.succeeds(fresh)

	s.forget("first")
	lost := manifestsBack("without-its-key", "", taken.Name)
	shop.makes(lost)
	shop.fails(lost, string(capturev1.ReasonKeyMissing))
	kept := manifestsBack("with-its-key", "", fresh.Name)
	shop.makes(kept)
	s.succeeds(kept)
}

// TestSecurityOfRoles: an account restores no rights that it does not have.
func TestSecurityOfRoles(t *testing.T) {
	s := newStage(t)
	shop, thief := s.team("shop"), s.team("thief")
	// The administrator has made a powerful role in the shop; the shop captures it.
	powerful := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: shop.namespace, Name: "powerful"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}}
	s.Create(powerful)
	taken := manifests("nightly", false)
	shop.makes(taken)
	s.succeeds(taken)
	s.allow(thief.name, shop.namespace, "manifestcapturerequests", taken.Name)
	back := manifestsBack("escalate", shop.namespace, taken.Name)
	harness.Eventually(t, within, poll, func() error {
		back.Namespace, back.ResourceVersion = thief.namespace, ""
		return thief.c.Create(t.Context(), back)
	})
	thief.fails(back, string(capturev1.ReasonPartiallyRestored))
	if err := harness.Gone(t.Context(), s.Client, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: thief.namespace, Name: "powerful"}}); err != nil {
		t.Errorf("the account has made a role with more rights than it has: %v", err)
	}
}

// rotate makes another key the active one.
func (s *stage) rotate(id string) {
	s.T.Helper()
	s.keys(func(data map[string][]byte) {
		data[id], data["active"] = make([]byte, 32), []byte(id)
		if _, err := rand.Read(data[id]); err != nil {
			s.T.Fatal(err)
		}
	})
}

// forget loses a key.
func (s *stage) forget(id string) {
	s.T.Helper()
	s.keys(func(data map[string][]byte) { delete(data, id) })
}

func (s *stage) keys(change func(map[string][]byte)) {
	s.T.Helper()
	keys := &corev1.Secret{}
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: "statecraft-capture-keys"}, keys); err != nil {
		s.T.Fatal(err)
	}
	change(keys.Data)
	if err := s.Client.Update(s.T.Context(), keys); err != nil {
		s.T.Fatal(err)
	}
}
