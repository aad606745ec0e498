package capture

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/test/product"
)

func TestAShopIsRestoredIntoAnotherNamespace(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	from := checkpointOf(t, s.c, objectsOf(t, shop), empty)
	dry := s.ends(s.ask("dry", from, func(spec *capturev1.ManifestRestoreRequestSpec) { spec.DryRun = true }), capturev1.ReasonCompleted)
	if uid := s.uidOf(&corev1.Secret{}, "password"); uid != "" {
		t.Fatal("a dry run wrote something")
	}
	r := s.ends(s.ask("real", from, nil), capturev1.ReasonCompleted)
	if diff := cmp.Diff(map[string]int32{"Created": 8}, r.Status.Counts); diff != "" {
		t.Errorf("results: %s", diff)
	}
	if diff := cmp.Diff(withoutUIDs(dry), withoutUIDs(r)); diff != "" {
		t.Errorf("the dry run said otherwise: %s", diff)
	}

	web := s.get(&appsv1.Deployment{}, "web").(*appsv1.Deployment)
	settings := s.get(&corev1.ConfigMap{}, "settings").(*corev1.ConfigMap)
	if len(settings.OwnerReferences) != 1 || settings.OwnerReferences[0].UID != web.UID {
		t.Errorf("settings are owned by %+v, not by the Deployment %s", settings.OwnerReferences, web.UID)
	}
	binding := s.get(&rbacv1.RoleBinding{}, "web").(*rbacv1.RoleBinding)
	if binding.Subjects[0].Namespace != s.namespace {
		t.Errorf("the binding names the account of namespace %s", binding.Subjects[0].Namespace)
	}
	if got := s.get(&corev1.Secret{}, "password").(*corev1.Secret).Data["password"]; string(got) != "canary-secret" {
		t.Errorf("the Secret holds %q", got)
	}
	text, err := yaml.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), canary) {
		t.Error("the value of a Secret is in the status")
	}
}

// withoutUIDs are results as a dry run can know them.
func withoutUIDs(r *capturev1.ManifestRestoreRequest) (results []capturev1.ObjectResult) {
	for _, one := range r.Status.Results {
		one.UID = ""
		results = append(results, one)
	}
	return results
}

func TestPoliciesOfConflict(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	from := checkpointOf(t, s.c, objectsOf(t, shop), empty)
	theirs := configMap(s.namespace, "settings")
	theirs.Data = map[string]string{"theme": "light", "theirs": "stays"}
	create(t, s.c, theirs)
	same := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
	create(t, s.c, same)
	policy := func(p capturev1.ConflictPolicy, dry bool) func(*capturev1.ManifestRestoreRequestSpec) {
		return func(spec *capturev1.ManifestRestoreRequestSpec) { spec.ConflictPolicy, spec.DryRun = p, dry }
	}

	r := s.ends(s.ask("fail", from, policy(capturev1.ConflictFail, false)), capturev1.ReasonConflict)
	if s.uidOf(&corev1.Secret{}, "password") != "" || s.uidOf(&rbacv1.Role{}, "web") != "" {
		t.Error("Fail wrote something although a name is taken")
	}
	if got := resultOf(r, "configmaps", "settings"); got.Result != capturev1.ResultFailed || got.Reason != capturev1.ReasonConflict {
		t.Errorf("the taken name is %+v", got)
	}
	// What was done is nothing; what would have been is for a dry run to say.
	if diff := cmp.Diff(map[string]int32{"Failed": 2, "Pending": 6}, r.Status.Counts); diff != "" {
		t.Errorf("the results of a restore that wrote nothing: %s", diff)
	}
	if got := resultOf(r, "secrets", "password"); got.Result != capturev1.ResultPending || got.Reason != manifestrestore.ReasonNotReached {
		t.Errorf("what was not written is %+v", got)
	}
	s.says(r, "Nothing was written. Of 8 objects: 2 failed, 6 not restored. The first that failed is serviceaccounts web (Conflict).")
	r = s.ends(s.ask("dry-fail", from, policy(capturev1.ConflictFail, true)), capturev1.ReasonConflict)
	s.says(r, "This was a dry run, and nothing was written. Of 8 objects: 2 would fail, 6 would be created. The first that would fail is serviceaccounts web (Conflict).")

	dry := s.ends(s.ask("dry-replace", from, policy(capturev1.ConflictReplace, true)), capturev1.ReasonCompleted)
	s.ends(s.ask("skip", from, policy(capturev1.ConflictSkip, false)), capturev1.ReasonCompleted)
	if got := s.get(&corev1.ConfigMap{}, "settings").(*corev1.ConfigMap); got.Data["theme"] != "light" || got.UID != theirs.UID {
		t.Errorf("Skip changed what was there: %v", got.Data)
	}

	r = s.ends(s.ask("replace", from, policy(capturev1.ConflictReplace, false)), capturev1.ReasonCompleted)
	got := s.get(&corev1.ConfigMap{}, "settings").(*corev1.ConfigMap)
	if diff := cmp.Diff(map[string]string{"theme": "dark", "size": "large", "theirs": "stays"}, got.Data); diff != "" || got.UID != theirs.UID {
		t.Errorf("Replace made it another: %s", diff)
	}
	result := resultOf(r, "configmaps", "settings")
	if diff := cmp.Diff([]string{"data.size", "data.theme", "metadata.ownerReferences"}, result.Changed); diff != "" || result.Result != capturev1.ResultReplaced {
		t.Errorf("%s: fields that Replace changed: %s", result.Result, diff)
	}
	if diff := cmp.Diff(result.Changed, resultOf(dry, "configmaps", "settings").Changed); diff != "" {
		t.Errorf("the dry run said otherwise: %s", diff)
	}
	if got := resultOf(r, "serviceaccounts", "web").Result; got != capturev1.ResultUnchanged {
		t.Errorf("what is as it was captured is %s", got)
	}
}

func TestRightsOfTheAccountAreTheLimit(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	grab := objectsOf(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: grab}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: harmless}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: grab-everything}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
`)
	r := s.ends(s.ask("grab", checkpointOf(t, s.c, grab), nil), capturev1.ReasonPartiallyRestored)
	if got := resultOf(r, "roles", "grab"); got.Result != capturev1.ResultFailed || got.Reason != capturev1.ReasonForbidden {
		t.Errorf("a Role with more rights than the account has is %+v", got)
	}
	if got := resultOf(r, "clusterroles", "grab-everything"); got.Reason != manifestrestore.ReasonClusterScoped {
		t.Errorf("a kind without a namespace is %+v", got)
	}
	if s.uidOf(&rbacv1.Role{}, "grab") != "" || s.uidOf(&rbacv1.ClusterRole{}, "grab-everything") != "" {
		t.Error("rights were escalated")
	}
	if s.uidOf(&corev1.ConfigMap{}, "harmless") == "" {
		t.Error("the rest was not restored")
	}

	ingress := objectsOf(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: unreadable}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
`)
	s.ends(s.ask("unreadable", checkpointOf(t, s.c, ingress), nil), capturev1.ReasonForbidden)
	if s.uidOf(&corev1.ConfigMap{}, "first") != "" {
		t.Error("something was written although not every name could be looked at")
	}
}

// TestAnOldRequestThatIsAppliedAgain is what GitOps does with a Replace that was meant once.
func TestAnOldRequestThatIsAppliedAgain(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	from := checkpointOf(t, s.c, objectsOf(t, shop), empty)
	theirs := configMap(s.namespace, "settings")
	theirs.Data = map[string]string{"theme": "light"}
	create(t, s.c, theirs)
	r := s.ends(s.ask("old", from, func(spec *capturev1.ManifestRestoreRequestSpec) {
		spec.ConflictPolicy, spec.NotAfter = capturev1.ConflictReplace, &metav1.Time{Time: time.Now().Add(-time.Minute)}
	}), capturev1.ReasonExpired)
	if got := s.get(&corev1.ConfigMap{}, "settings").(*corev1.ConfigMap); got.Data["theme"] != "light" || s.uidOf(&corev1.Secret{}, "password") != "" {
		t.Error("an old request had an effect")
	}
	if r.Status.CompletionTimestamp == nil {
		t.Error("it does not say when it ended")
	}
}
