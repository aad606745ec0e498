package act

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestKeysAreRewrapped: those of the key that was active before; those that need another are left, and told.
func TestKeysAreRewrapped(t *testing.T) {
	key := func(id string) []byte { return bytes.Repeat([]byte(id[1:]), 32) }
	sealed := func(name, id string) *capturev1.ManifestCheckpoint {
		c := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Origin.RequestUID = "r1"
		if id == "" {
			return c
		}
		ring, err := checkpoint.ParseRing(map[string][]byte{"active": []byte(id), id: key(id)})
		if err != nil {
			t.Fatal(err)
		}
		seal, err := ring.NewSeal("r1", rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c.Spec.Encryption = &seal.Encryption
		return c
	}
	keys := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: checkpoint.KeysSecret},
		Data:       map[string][]byte{"active": []byte("k2"), "k1": key("k1"), "k2": key("k2")},
	}
	points := []client.Object{sealed("plain", ""), sealed("old", "k1"), sealed("new", "k2"), sealed("lost", "k0")}
	c := serving(t, append(points, keys)...)
	a := Rewrapper{Writer: kube.Env{Client: c, Live: c}.Writer("keys"), Live: read.Live{Reader: c}, KeysIn: "system"}
	for look, want := range []Rewrapped{{1, 1}, {0, 1}} {
		did, err := a.Rewrap(t.Context())
		if did != want || !errors.Is(err, checkpoint.ErrKeyMissing) {
			t.Errorf("look %d: %+v, %v", look, did, err)
		}
	}
	for name, want := range map[string]string{"old": "k2", "new": "k2", "lost": "k0"} {
		var is capturev1.ManifestCheckpoint
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &is); err != nil || is.Spec.Encryption.KeyID != want {
			t.Errorf("%s is wrapped with %+v: %v", name, is.Spec.Encryption, err)
		}
	}
	if err := c.Delete(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	if did, err := a.Rewrap(t.Context()); did != (Rewrapped{}) || err != nil {
		t.Errorf("without keys: %+v, %v", did, err)
	}
}
