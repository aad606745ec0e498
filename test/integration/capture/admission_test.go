package capture

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
)

// rule is one right.
func rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

// requests is what every tenant of these tests may do: everything with requests, but for the verb restore.
var requests = rbacv1.PolicyRule{
	Verbs: []string{"create", "get", "list", "patch", "update", "delete"}, APIGroups: []string{capturev1.GroupVersion.Group}, Resources: []string{"*"},
}

// grant gives a user a right, in a namespace or, with "", everywhere.
func grant(t testing.TB, c client.Client, user, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := metav1.ObjectMeta{GenerateName: "grant-", Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	if namespace == "" {
		role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}
		create(t, c, role)
		create(t, c, &rbacv1.ClusterRoleBinding{
			ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		})
		return
	}
	role := &rbacv1.Role{ObjectMeta: name, Rules: rules}
	create(t, c, role)
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	})
}

// clientAs acts as somebody else.
func clientAs(t testing.TB, b *bed.Bed, c client.Client, user string, groups ...string) client.Client {
	t.Helper()
	return clientOf(t, b.ConfigFor(user, groups...), c)
}

// clientOf acts as whom a config is of.
func clientOf(t testing.TB, cfg *rest.Config, c client.Client) client.Client {
	t.Helper()
	as, err := client.New(cfg, client.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return as
}

// refused is nil if admission refuses obj with these words. RBAC, which is asked before, may still be learning.
func refused(t testing.TB, c client.Client, obj client.Object, words string) error {
	err := c.Create(t.Context(), obj.DeepCopyObject().(client.Object), client.DryRunAll)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		return fmt.Errorf("error %w, want one that says %q", err, words)
	}
	return nil
}

func accepted(t testing.TB, c client.Client, obj client.Object) error {
	return c.Create(t.Context(), obj.DeepCopyObject().(client.Object), client.DryRunAll)
}

// TestRequestsNeedTheRightsOfWhatTheyDo makes each request as a tenant that may make requests and
// nothing else, and once more with the one right that is needed.
func TestRequestsNeedTheRightsOfWhatTheyDo(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, here, there := newClient(t, b), bedtest.Namespace(t, b), bedtest.Namespace(t, b)
	const ours = "capture.statecraft.dev"
	for name, tc := range map[string]struct {
		request client.Object
		words   string // of the refusal; "" needs no right
		where   string // is the right: a namespace, or "" for the whole cluster
		right   rbacv1.PolicyRule
	}{
		"a snapshot":                          {request: snapshot(here, "data")},
		"a detached volume":                   {detach(here, "data"), "may not delete persistentvolumeclaims data", here, rule("delete", "", "persistentvolumeclaims", "data")},
		"manifests without Secrets":           {request: manifests(here, false)},
		"manifests with Secrets":              {manifests(here, true), "may not get secrets", here, rule("get", "", "secrets")},
		"a restore of one's own":              {request: restore(here, source{request: "a"})},
		"a restore that names its own":        {request: restore(here, source{request: "a", namespace: here})},
		"a restore from elsewhere":            {restore(here, source{request: "a", namespace: there}), "may not restore volumecapturerequests a of namespace " + there, there, rule("restore", ours, "volumecapturerequests", "a")},
		"a restore of a content":              {restore(here, source{content: "c"}), "may not restore volumesnapshotcontents c", "", rule("restore", "snapshot.storage.k8s.io", "volumesnapshotcontents", "c")},
		"a restore of a volume":               {restore(here, source{volume: "v"}), "may not restore persistentvolumes v", "", rule("restore", "", "persistentvolumes", "v")},
		"a rehearsal":                         {rehearsal(here), "may not create jobs", here, rule("create", "batch", "jobs")},
		"manifests of one's own":              {request: manifestRestore(here, "m", "", "")},
		"manifests from elsewhere":            {manifestRestore(here, "m", there, ""), "may not restore manifestcapturerequests m of namespace " + there, there, rule("restore", ours, "manifestcapturerequests", "m")},
		"manifests of a checkpoint":           {manifestRestore(here, "", "", "p"), "may not restore manifestcheckpoints p", "", rule("restore", ours, "manifestcheckpoints", "p")},
		"the operator's own manifests":        {manifests(harness.SystemNamespace, false), "the manager's own", here, rbacv1.PolicyRule{}},
		"manifests into the operator's place": {manifestRestore(harness.SystemNamespace, "m", "", ""), "the manager's own", here, rbacv1.PolicyRule{}},
	} {
		t.Run(name, func(t *testing.T) {
			user := "tenant-" + strings.NewReplacer(" ", "-", "'", "").Replace(name)
			grant(t, c, user, tc.request.GetNamespace(), requests)
			tenant := clientAs(t, b, c, user)
			if tc.words != "" {
				harness.Eventually(t, soon, poll, func() error { return refused(t, tenant, tc.request, tc.words) })
				if tc.right.Verbs == nil {
					return
				}
				grant(t, c, user, tc.where, tc.right)
			}
			harness.Eventually(t, soon, poll, func() error { return accepted(t, tenant, tc.request) })
			if tc.words != "" { // one right opens one door only
				other := tc.request.DeepCopyObject().(client.Object)
				rename(other)
				if len(tc.right.ResourceNames) > 0 && refused(t, tenant, other, "may not") != nil {
					t.Error("the right holds for other names, too")
				}
			}
		})
	}
}

// TestOnlyTheManagerMakesArtifacts tries as somebody who may do everything but change policies.
func TestOnlyTheManagerMakesArtifacts(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	const operator = "an-operator"
	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{capturev1.GroupVersion.Group}, Resources: []string{"*"}}
	grant(t, c, operator, "", everything)
	grant(t, c, harness.User(area), "", everything)
	someone, manager := clientAs(t, b, c, operator), clientAs(t, b, c, harness.User(area))

	generated := keepers.Following(withUID(configMap(namespace, "a")), "")
	generated.GenerateName = "request-"
	for name, tc := range map[string]struct {
		obj   client.Object
		words string // of the refusal; "" is everybody's
	}{
		"a keeper of one's own":                      {obj: keepers.Following(withUID(configMap(namespace, "a")), "mine")},
		"a keeper with the name of a request's":      {keepers.Following(withUID(configMap(namespace, "a")), "request-1234"), "belong to the requests"},
		"a keeper with a generated name of the sort": {generated, "belong to the requests"},
		"a checkpoint":                               {checkpoint("p"), "only the manager"},
		"a chunk":                                    {chunk("p-0"), "only the manager"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.words != "" {
				harness.Eventually(t, soon, poll, func() error { return refused(t, someone, tc.obj, tc.words) })
			} else {
				harness.Eventually(t, soon, poll, func() error { return accepted(t, someone, tc.obj) })
			}
			harness.Eventually(t, soon, poll, func() error { return accepted(t, manager, tc.obj) })
		})
	}
}
