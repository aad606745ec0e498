package act

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// vaultOf is the vault of a cluster with TLS and passwords, over Secrets in memory.
func vaultOf(t *testing.T, brought map[string]string) secrets {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), valkeyv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	given := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}, Data: map[string][]byte{}}
	for file, text := range brought {
		given.Data[file] = []byte(text)
	}
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}}
	c.Spec.TLS, c.Spec.Auth = &valkeyv1.TLS{SecretName: "tls"}, &valkeyv1.Auth{SecretName: "app"}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(given).WithReturnManagedFields().Build()
	env := kube.Env{Client: server, Live: server}
	return secrets{env.Writer("valkeycluster"), env.LiveReader(), c}
}

func (s secrets) files(t *testing.T, name string) map[string]string {
	t.Helper()
	own, err := s.own(t.Context(), name)
	if err != nil || own == nil {
		t.Fatalf("%v, %v", own, err)
	}
	return filesOf(own)
}

func (s secrets) passwords(t *testing.T) access.Secrets {
	t.Helper()
	own, err := access.ParseOwn(s.files(t, "web-access"))
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// Passwords are made once; for another number there are new ones beside them, once; and in
// the end those that were seen are kept alone.
func TestOwnPasswords(t *testing.T) {
	authority := certs.NewAuthority(t, "first")
	s := vaultOf(t, authority.Issue(t, "web.shop.svc", authority))
	must(t, s.make(t.Context()))
	first := s.passwords(t)
	must(t, s.make(t.Context()))
	must(t, s.changePasswords(t.Context(), "0"))
	if is := s.passwords(t); is.Newest() != first.Newest() || is.Changing() {
		t.Error("they were made anew")
	}
	if err := s.changePasswords(t.Context(), "1"); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("what the spec does not ask for: %v", err)
	}
	s.c.Spec.Auth.Rotation = 1
	must(t, s.changePasswords(t.Context(), "1"))
	must(t, s.changePasswords(t.Context(), "1"))
	during := s.passwords(t)
	if len(during.Operator) != 2 || during.Operator[1] != first.Operator[0] || during.Replication[1] != first.Replication[0] || during.Newest() == first.Newest() {
		t.Errorf("%d passwords", len(during.Operator))
	}
	if err := s.EndPasswords(t.Context(), first); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("others than were seen: %v", err)
	}
	must(t, s.EndPasswords(t.Context(), during))
	if is := s.passwords(t); is.Changing() || is.Newest() != during.Newest() || is.Retired[0] != first.Operator[0] {
		t.Error("the change was not ended")
	}
}

// A stage takes the place of the one that was seen, and only if servers can work with it.
func TestStage(t *testing.T) {
	first, second := certs.NewAuthority(t, "first"), certs.NewAuthority(t, "second")
	was, given := first.Issue(t, "web.shop.svc", first), second.Issue(t, "web.shop.svc", second)
	s := vaultOf(t, was)
	must(t, s.make(t.Context()))
	kept, next := access.ParseMaterial(was), access.NextMaterial(access.ParseMaterial(was), access.ParseMaterial(given))
	if access.ParseMaterial(s.files(t, "web-certificates")) != kept {
		t.Error("servers start with others than the user's")
	}
	if err := s.Stage(t.Context(), next, kept); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("another was seen: %v", err)
	}
	if err := s.Stage(t.Context(), kept, access.Material{Certificate: next.Certificate, Key: next.Key}); !errors.Is(err, access.ErrUnfit) {
		t.Errorf("nobody is believed: %v", err)
	}
	must(t, s.Stage(t.Context(), kept, next))
	files := s.files(t, "web-certificates")
	if access.ParseMaterial(files) != next || len(files) != 6 || files[access.FilesOf(next.Name()).Key] == "" {
		t.Errorf("%d files", len(files))
	}
	var foreign corev1.Secret
	must(t, s.live.Get(context.Background(), read.Key{Namespace: "shop", Name: "web-certificates"}, &foreign))
	foreign.OwnerReferences = nil
	must(t, s.live.Reader.(client.Client).Update(t.Context(), &foreign))
	if err := s.Stage(t.Context(), next, kept); !errors.Is(err, errOthers) {
		t.Errorf("somebody else's: %v", err)
	}
}
