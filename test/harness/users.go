package harness

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// Rule is one right.
func Rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

// Grant gives a user rights, in a namespace or, with "", everywhere. The API server learns of
// them within a second.
func Grant(t testing.TB, admin client.Client, user, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := metav1.ObjectMeta{GenerateName: "grant-", Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	if namespace == "" {
		role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}
		mustCreate(t, admin, role)
		mustCreate(t, admin, &rbacv1.ClusterRoleBinding{
			ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		})
		return
	}
	role := &rbacv1.Role{ObjectMeta: name, Rules: rules}
	mustCreate(t, admin, role)
	mustCreate(t, admin, &rbacv1.RoleBinding{
		ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	})
}

func mustCreate(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// ClientAs acts as somebody, by a client certificate. It knows the kinds that like knows.
func ClientAs(t testing.TB, b *bed.Bed, like client.Client, user string, groups ...string) client.Client {
	t.Helper()
	return ClientOf(t, b.ConfigFor(user, groups...), like)
}

// ClientOf acts as the user of a config. It knows the kinds that like knows.
func ClientOf(t testing.TB, cfg *rest.Config, like client.Client) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: like.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Refused is nil if admission refuses to create obj, with these words; nothing is created.
// RBAC, which is asked before, may still be learning.
func Refused(t testing.TB, c client.Client, obj client.Object, words string) error {
	err := Accepted(t, c, obj)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		return fmt.Errorf("error %w, want one that says %q", err, words)
	}
	return nil
}

// Accepted is nil if obj could be created; it is not.
func Accepted(t testing.TB, c client.Client, obj client.Object) error {
	return c.Create(t.Context(), obj.DeepCopyObject().(client.Object), client.DryRunAll)
}
