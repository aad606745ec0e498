//go:build full

package valkey

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
	"github.com/statecraft-dev/statecraft/test/product"
)

const (
	appUser     = "shop"
	oldPassword = "correct-horse"
	newPassword = "battery-staple"
	// rotatedWithin includes how long a kubelet takes to give pods a changed Secret.
	rotatedWithin = 4 * time.Minute
)

// TestSecurityPasswordIsChangedUnderLoad makes a cluster with TLS, users and volumes, and
// changes the password of its application while it writes.
func TestSecurityPasswordIsChangedUnderLoad(t *testing.T) {
	s, m, safe, vkc := newSecured(t)
	option := safe.option(s.addr(vkc))
	w := writer.StartWith(t, option)
	w.Await(t, writesBefore)
	login := safe.login

	was := s.applied(vkc, "")
	login.StringData = map[string]string{"username": appUser, "password": newPassword + "\n" + oldPassword}
	s.update(login)
	was = s.applied(vkc, was)
	option.Password = newPassword
	other := writer.StartWith(t, option)
	other.Await(t, writesBefore)
	login.StringData = map[string]string{"username": appUser, "password": newPassword}
	s.update(login)
	s.applied(vkc, was)
	w.Check(t)
	other.Check(t)
	s.unspoken(vkc, m)
	s.empty(vkc.Namespace, vkc)
}

// newSecured makes a cluster with users, encryption and volumes, which runs.
func newSecured(t *testing.T) (*stage, *product.Manager, secured, *valkeyv1.ValkeyCluster) {
	t.Helper()
	s := newStage(t)
	m := s.Manager
	m.Start()
	safe := s.secure(bedtest.Namespace(t, s.Bed))
	vkc := s.createAs(safe.namespace, safe.change)
	s.running(vkc)
	return s, m, safe, vkc
}

// secured is what a cluster needs to be reached by those who may only.
type secured struct {
	namespace string
	authority *certs.Authority
	// certificates and login are the user's Secrets.
	certificates, login *corev1.Secret
}

// secure makes a certificate, and a user with a password.
func (s *stage) secure(namespace string) secured {
	s.T.Helper()
	authority := certs.NewAuthority(s.T, "shop")
	certificates := s.secret(namespace, "certificates", authority.Issue(s.T, name+"."+namespace+".svc", authority))
	login := s.secret(namespace, "login", map[string]string{"username": appUser, "password": oldPassword})
	return secured{namespace, authority, certificates, login}
}

// change asks for a cluster with users, encryption and volumes.
func (safe secured) change(v *valkeyv1.ValkeyCluster) {
	v.Spec.TLS, v.Spec.Auth = &valkeyv1.TLS{SecretName: "certificates"}, &valkeyv1.Auth{SecretName: "login"}
	v.Spec.Persistence.Enabled = true
}

// option is how a client reaches such a cluster.
func (safe secured) option(addr string) valkey.ClientOption {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(certs.Bundle(safe.authority)))
	return valkey.ClientOption{
		InitAddress: []string{addr}, DisableCache: true, Username: appUser, Password: oldPassword,
		TLSConfig: &tls.Config{RootCAs: roots, ServerName: name + "." + safe.namespace + ".svc", MinVersion: tls.VersionTLS12},
	}
}

func (s *stage) secret(namespace, name string, data map[string]string) *corev1.Secret {
	s.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
	if err := s.Client.Create(s.T.Context(), secret); err != nil {
		s.T.Fatal(err)
	}
	return secret
}

func (s *stage) update(secret *corev1.Secret) {
	s.T.Helper()
	if err := s.Client.Update(s.T.Context(), secret); err != nil {
		s.T.Fatal(err)
	}
}

// applied waits until all servers have other credentials than these.
func (s *stage) applied(vkc *valkeyv1.ValkeyCluster, than string) string {
	s.T.Helper()
	harness.Eventually(s.T, rotatedWithin, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
			return err
		}
		if is := vkc.Status.Credentials; is == "" || is == than {
			return fmt.Errorf("credentials %q, %+v", is, vkc.Status.Conditions)
		}
		return nil
	})
	return vkc.Status.Credentials
}

// unspoken checks that no password is anywhere but in Secrets.
func (s *stage) unspoken(vkc *valkeyv1.ValkeyCluster, m *product.Manager) {
	s.T.Helper()
	var own corev1.Secret
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: vkc.Namespace, Name: vkc.Name + "-access"}, &own); err != nil {
		s.T.Fatal(err)
	}
	secrets := []string{oldPassword, newPassword}
	for _, value := range own.Data {
		secrets = append(secrets, strings.Fields(string(value))...)
	}
	objects, err := s.Bed.Kubectl(s.T.Context(), "get", "vkc,statefulsets,pods,configmaps,events,leases", "-n", vkc.Namespace, "-o", "yaml")
	if err != nil {
		s.T.Fatal(err)
	}
	logs, err := s.Bed.Kubectl(s.T.Context(), "logs", "-n", vkc.Namespace, vkc.Name+"-0-0", "-c", "valkey")
	if err != nil {
		s.T.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(objects+logs+m.Log(), secret) {
			s.T.Error("a password is told to whoever may read objects or logs")
		}
	}
}
