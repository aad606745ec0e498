package kube

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only the number was wanted
	return l.Addr().String()
}

// ask gets a page and returns its status and text.
func ask(t *testing.T, url, token string) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it signs its own
	defer web.CloseIdleConnections()
	answer, err := web.Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), errors.Join(err, answer.Body.Close())
}

// tokenOf makes a ServiceAccount and a token of it.
func tokenOf(t *testing.T, c client.Client, namespace, name string) string {
	t.Helper()
	account := create(t, c, &corev1.ServiceAccount{ObjectMeta: objectMeta(namespace, name, nil)})
	token := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

func mayReadMetrics(t *testing.T, c client.Client, namespace, name string) {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reads-metrics-" + namespace},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	if err := c.Create(t.Context(), role); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	})
}

func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	metrics, probes := freeAddress(t), freeAddress(t)
	product.NewManager(t, b, "capture", "--no-leader-election", "--metrics-bind-address="+metrics, "--health-probe-bind-address="+probes).Start()
	for _, path := range []string{"/healthz", "/readyz"} {
		harness.Eventually(t, soon, poll, func() error {
			code, text, err := ask(t, "http://"+probes+path, "")
			if err != nil || code != http.StatusOK {
				return fmt.Errorf("%s answers %d %s: %w", path, code, text, err)
			}
			return nil
		})
	}
	worksOn(t, c, namespace+"-counted")
	may, mayNot := tokenOf(t, c, namespace, "may"), tokenOf(t, c, namespace, "may-not")
	mayReadMetrics(t, c, namespace, "may")
	refused := []int{http.StatusUnauthorized, http.StatusInternalServerError} // the second is the filter's answer to a token that is none
	for who, want := range map[string]struct {
		token string
		codes []int
	}{
		"nobody":          {"", []int{http.StatusUnauthorized}},
		"one who lies":    {mayNot + "x", refused},
		"one who may":     {may, []int{http.StatusOK}},
		"one who may not": {mayNot, []int{http.StatusForbidden}},
	} {
		harness.Eventually(t, soon, poll, func() error {
			code, text, err := ask(t, "https://"+metrics+"/metrics", want.token)
			if err != nil || !slices.Contains(want.codes, code) {
				return fmt.Errorf("%s gets %d, want %v: %w", who, code, want.codes, err)
			}
			if ours := regexp.MustCompile(`statecraft_objects\{.*kind="ObjectKeeper"`).MatchString(text); ours != (code == http.StatusOK) {
				t.Errorf("%s: our metrics are there: %v", who, ours)
			}
			return nil
		})
	}
	if code, text, err := ask(t, "http://"+metrics+"/metrics", may); err == nil && (code == http.StatusOK || strings.Contains(text, "statecraft_")) {
		t.Errorf("without TLS: %d", code)
	}
}
