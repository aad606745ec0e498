package observe

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// safe is Secrets by name.
type safe map[string]*corev1.Secret

func (s safe) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	found, there := s[key.Name]
	if !there {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	found.DeepCopyInto(obj.(*corev1.Secret))
	return nil
}

func (safe) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (s safe) put(c *valkeyv1.ValkeyCluster, name string, files map[string]string) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{}}
	if c != nil {
		secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))}
		secret.Annotations = map[string]string{valkeyv1.RotationAnnotation: "3"}
	}
	for file, text := range files {
		secret.Data[file] = []byte(text)
	}
	s[name] = secret
}

// Whatever is wrong with what a user brings, servers are opened by what the operator keeps.
func TestKeys(t *testing.T) {
	const name = "web.shop.svc"
	first, second := certs.NewAuthority(t, "first"), certs.NewAuthority(t, "second")
	kept, given := first.Issue(t, name, first), second.Issue(t, name, second)
	own := map[string]string{access.OperatorFile: "o2\no1\n", access.ReplicationFile: "r2\nr1\n", access.RetiredFile: "o0\n"}
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}}
	c.Spec.TLS, c.Spec.Auth = &valkeyv1.TLS{SecretName: "tls"}, &valkeyv1.Auth{SecretName: "app"}
	for name, tc := range map[string]struct {
		change      func(s safe)
		doubt       string
		application string
		given       access.Material
		fails       bool
	}{
		"all is well":                      {func(safe) {}, "", "shop", access.ParseMaterial(given), false},
		"the user's certificates are gone": {func(s safe) { delete(s, "tls") }, "which spec.tls names", "shop", access.ParseMaterial(kept), false},
		"a key of another certificate": {func(s safe) { s["tls"].Data["tls.key"] = []byte(kept["tls.key"]) }, "not fit for use",
			"shop", access.ParseMaterial(kept), false},
		"the application's is gone":    {func(s safe) { delete(s, "app") }, "which spec.auth names", "", access.ParseMaterial(given), false},
		"the application's is empty":   {func(s safe) { s["app"].Data["password"] = nil }, "there is no password", "", access.ParseMaterial(given), false},
		"the operator's own is gone":   {func(s safe) { delete(s, "web-access") }, "", "", access.Material{}, true},
		"somebody else's has its name": {func(s safe) { s.put(nil, "web-access", own) }, "", "", access.Material{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := safe{}
			s.put(c, "web-access", own)
			s.put(c, "web-certificates", access.ParseMaterial(kept).Files())
			s.put(nil, "tls", given)
			s.put(nil, "app", map[string]string{"username": "shop", "password": "a1"})
			tc.change(s)
			keys, err := Keys(t.Context(), read.Live{Reader: s}, c)
			if (err != nil) != tc.fails {
				t.Fatal(err)
			}
			if tc.fails {
				return
			}
			if keys.Staged != access.ParseMaterial(kept) || keys.Given != tc.given || keys.Believed() != kept["ca.crt"] || keys.Rotation != "3" {
				t.Errorf("staged %s, given %s, rotation %q", keys.Staged.Name(), keys.Given.Name(), keys.Rotation)
			}
			if (tc.doubt == "") != (keys.Doubt == "") || !strings.Contains(keys.Doubt, tc.doubt) || keys.Secrets.ApplicationName != tc.application || len(keys.Secrets.Logins()) != 3 {
				t.Errorf("doubt %q, application %q", keys.Doubt, keys.Secrets.ApplicationName)
			}
		})
	}
}
