package product

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestSecretsInChosenNamespaces: where the area has no right to Secrets, clusters that need none work, and one that
// needs them says which binding is missing.
func TestSecretsInChosenNamespaces(t *testing.T) {
	s := newStage(t, config.Namespace)
	a, b := bedtest.Namespace(t, s.bed), bedtest.Namespace(t, s.bed)
	s.install(release, first, "--set=areas.valkey.secretsIn={"+a+"}")
	for _, namespace := range []string{a, b} {
		s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: login}, StringData: map[string]string{
			valkeyv1.UsernameKey: "shop", valkeyv1.PasswordKey: "the password of the shop",
		}})
	}
	s.mayReadSecrets(a, true)
	s.mayReadSecrets(b, false)

	s.create(cluster(a, "guarded", withPasswords))
	s.create(cluster(b, "open", small))
	refused := cluster(b, "guarded", withPasswords)
	s.create(refused)
	s.condition(a, "vkc/guarded", "Ready")
	s.condition(b, "vkc/open", "Ready")
	harness.Eventually(t, within, poll, func() error {
		return s.waitsWith(refused, "statecraft-valkey-secrets", b)
	})
	answer, code := s.plugin("why", "vkc/guarded", "-n", b)
	says(t, answer, code, 1, "statecraft-valkey-secrets", "the platform team")

	s.helm("upgrade", release, s.load(first).Chart, "-n", s.system, "--reuse-values", "--set=areas.valkey.secretsIn={"+a+","+b+"}")
	s.condition(b, "vkc/guarded", "Ready")
}

// mayReadSecrets tries with the account's own rights.
func (s *stage) mayReadSecrets(namespace string, may bool) {
	s.Helper()
	account := "system:serviceaccount:" + s.system + ":statecraft-valkey"
	as := harness.ClientAs(s, s.bed, s.client, account, "system:serviceaccounts")
	err := as.Get(s.Context(), client.ObjectKey{Namespace: namespace, Name: login}, &corev1.Secret{})
	if may != (err == nil) || !may && !apierrors.IsForbidden(err) {
		s.Errorf("the account reads a Secret of %s: %v", namespace, err)
	}
}

// waitsWith is nil once the status says all words.
func (s *stage) waitsWith(vkc *valkeyv1.ValkeyCluster, words ...string) error {
	if err := s.client.Get(s.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
		return err
	}
	for _, w := range words {
		if !strings.Contains(vkc.Status.WaitingFor, w) {
			return &notSaid{vkc.Status.WaitingFor, w}
		}
	}
	return nil
}

type notSaid struct{ is, lacks string }

func (e *notSaid) Error() string { return "it waits for " + e.is + ", which does not name " + e.lacks }

const login = "login"

func small(vkc *valkeyv1.ValkeyCluster) {
	none := int32(0)
	vkc.Spec.ReplicasPerMaster = &none
}

func withPasswords(vkc *valkeyv1.ValkeyCluster) {
	small(vkc)
	vkc.Spec.Auth = &valkeyv1.Auth{SecretName: login}
}
