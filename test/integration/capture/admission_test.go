package capture

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
)

// requests is what every tenant of these tests may do: everything with requests, but for the verb restore.
var requests = rbacv1.PolicyRule{
	Verbs: []string{"create", "get", "list", "patch", "update", "delete"}, APIGroups: []string{capturev1.GroupVersion.Group}, Resources: []string{"*"},
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
		"a detached volume":                   {detach(here, "data"), "may not delete persistentvolumeclaims data", here, harness.Rule("delete", "", "persistentvolumeclaims", "data")},
		"manifests without Secrets":           {request: manifests(here, false)},
		"manifests with Secrets":              {manifests(here, true), "may not get secrets", here, harness.Rule("get", "", "secrets")},
		"a restore of one's own":              {request: restore(here, source{request: "a"})},
		"a restore that names its own":        {request: restore(here, source{request: "a", namespace: here})},
		"a restore from elsewhere":            {restore(here, source{request: "a", namespace: there}), "may not restore volumecapturerequests a of namespace " + there, there, harness.Rule("restore", ours, "volumecapturerequests", "a")},
		"a restore of a content":              {restore(here, source{content: "c"}), "may not restore volumesnapshotcontents c", "", harness.Rule("restore", "snapshot.storage.k8s.io", "volumesnapshotcontents", "c")},
		"a restore of a volume":               {restore(here, source{volume: "v"}), "may not restore persistentvolumes v", "", harness.Rule("restore", "", "persistentvolumes", "v")},
		"a rehearsal":                         {rehearsal(here), "may not create jobs", here, harness.Rule("create", "batch", "jobs")},
		"manifests of one's own":              {request: manifestRestore(here, "m", "", "")},
		"manifests from elsewhere":            {manifestRestore(here, "m", there, ""), "may not restore manifestcapturerequests m of namespace " + there, there, harness.Rule("restore", ours, "manifestcapturerequests", "m")},
		"manifests of a checkpoint":           {manifestRestore(here, "", "", "p"), "may not restore manifestcheckpoints p", "", harness.Rule("restore", ours, "manifestcheckpoints", "p")},
		"the operator's own manifests":        {manifests(harness.SystemNamespace, false), "the manager's own", here, rbacv1.PolicyRule{}},
		"manifests into the operator's place": {manifestRestore(harness.SystemNamespace, "m", "", ""), "the manager's own", here, rbacv1.PolicyRule{}},
	} {
		t.Run(name, func(t *testing.T) {
			user := "tenant-" + strings.NewReplacer(" ", "-", "'", "").Replace(name)
			harness.Grant(t, c, user, tc.request.GetNamespace(), requests)
			tenant := harness.ClientAs(t, b, c, user)
			if tc.words != "" {
				harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, tenant, tc.request, tc.words) })
				if tc.right.Verbs == nil {
					return
				}
				harness.Grant(t, c, user, tc.where, tc.right)
			}
			harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, tenant, tc.request) })
			if tc.words != "" { // one right opens one door only
				other := tc.request.DeepCopyObject().(client.Object)
				rename(other)
				if len(tc.right.ResourceNames) > 0 && harness.Refused(t, tenant, other, "may not") != nil {
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
	harness.Grant(t, c, operator, "", everything)
	harness.Grant(t, c, harness.User(area), "", everything)
	someone, manager := harness.ClientAs(t, b, c, operator), harness.ClientAs(t, b, c, harness.User(area))

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
				harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, someone, tc.obj, tc.words) })
			} else {
				harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, someone, tc.obj) })
			}
			harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, manager, tc.obj) })
		})
	}
}
