package kube

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// groupReads lets a group get the Secrets of a namespace.
func groupReads(t testing.TB, c client.Client, group, namespace string) {
	t.Helper()
	name := metav1.ObjectMeta{Namespace: namespace, Name: "reads"}
	create(t, c, &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}},
	}})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reads"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}},
	})
}

// TestAccessIsThatOfTheWholeUser grants a right to a group: a review without groups would be wrong.
func TestAccessIsThatOfTheWholeUser(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	groupReads(t, c, "clerks-"+namespace, namespace)
	may := envOf(c, namespace).May()
	what := read.Right{Verb: "get", Resource: "secrets", Namespace: namespace}
	ann := &meta.Requester{
		Username: "ann", UID: "u1", Groups: []string{"clerks-" + namespace, "system:authenticated"},
		Extra: map[string]meta.ExtraValue{"authentication.kubernetes.io/pod-name": {"till"}},
	}
	harness.Eventually(t, soon, poll, func() error {
		if got, err := may(t.Context(), ann, what); err != nil || !got.Allowed {
			return fmt.Errorf("%+v: %w", got, err)
		}
		return nil
	})
	for name, tc := range map[string]struct {
		who  *meta.Requester
		what read.Right
		want string
	}{
		"without the group": {&meta.Requester{Username: "ann"}, what, "ann may not get secrets of namespace " + namespace},
		"elsewhere":         {ann, read.Right{Verb: "get", Resource: "secrets", Namespace: "default"}, "ann may not get secrets of namespace default"},
		"another verb":      {ann, read.Right{Verb: "list", Resource: "secrets", Namespace: namespace}, "ann may not list secrets of namespace " + namespace},
	} {
		if got, err := may(t.Context(), tc.who, tc.what); err != nil || got.Allowed || got.Why != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestImpersonationIsOfTheWholeUser acts as somebody, whom the API server then takes it for.
func TestImpersonationIsOfTheWholeUser(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	groupReads(t, c, "clerks-"+namespace, namespace)
	create(t, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "till"}})
	ann := &meta.Requester{
		Username: "ann", UID: "u1", Groups: []string{"clerks-" + namespace, "system:authenticated"},
		Extra: map[string]meta.ExtraValue{"authentication.kubernetes.io/pod-name": {"till"}, "example.com/shifts": {"early", "late"}},
	}
	as := kube.Impersonator{Config: b.Config(), Scheme: scheme, Mapper: c.RESTMapper()}
	cfg, err := kube.Impersonate(b.Config(), ann)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ann, harness.WhoAmI(t, cfg)); diff != "" {
		t.Errorf("whom the API server takes it for: %s", diff)
	}
	reader, err := as.Reader(ann)
	if err != nil {
		t.Fatal(err)
	}
	key := read.Key{Namespace: namespace, Name: "till"}
	harness.Eventually(t, soon, poll, func() error { return reader.Get(t.Context(), key, &corev1.Secret{}) })
	acts, err := as.Client(kube.Account(namespace, "till"))
	if err != nil {
		t.Fatal(err)
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := acts.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	if diff := cmp.Diff(groups, review.Status.UserInfo.Groups); diff != "" {
		t.Errorf("groups of an account: %s", diff)
	}
	if err := acts.Get(t.Context(), key, &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Errorf("an account without rights reads a Secret: %v", err)
	}
}

// TestATokenOfAPod shows what a token says that is bound to a pod, and that it ends with the pod.
func TestATokenOfAPod(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	cfg, pod := harness.ConfigForPod(t, b, namespace, "till")
	_, other := harness.ConfigForPod(t, b, namespace, "till") // of the same account
	is := harness.WhoAmI(t, cfg)
	if is.Username != "system:serviceaccount:"+namespace+":till" || is.UID == "" {
		t.Errorf("it is %+v", is)
	}
	for key, want := range map[string]string{harness.ExtraPodName: pod.Name, harness.ExtraPodUID: string(pod.UID)} {
		if got := is.Extra[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %s", key, got, want)
		}
	}
	acts := harness.ClientOf(t, cfg, c)
	ask := func() error { return acts.Create(t.Context(), &authenticationv1.SelfSubjectReview{}) }
	if err := c.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil {
		t.Errorf("a token ends with another pod: %v", err)
	}
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error { // the API server remembers good tokens for ten seconds
		if err := ask(); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("the token lives on: %w", err)
		}
		return nil
	})
}
