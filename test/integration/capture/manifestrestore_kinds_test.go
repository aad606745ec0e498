package capture

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// notServed are groups of the roles that the API server of this bed does not have.
var notServed = map[string]bool{"snapshot.storage.k8s.io": true, "groupsnapshot.storage.k8s.io": true}

// TestTheShippedRolesRestoreEveryKind: an account with the roles that we ship, and no other, makes an object of every kind
// that these roles name, and changes it.
func TestTheShippedRolesRestoreEveryKind(t *testing.T) {
	b := bedtest.ControlPlane(t)
	s := &scene{t: t, bed: b, c: newClient(t, b), namespace: bedtest.Namespace(t, b)}
	product.NewManager(t, b, area).Start()
	create(t, s.c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: act.Account}})
	tenant(t, s.c, s.namespace, "statecraft-capture-tenant-restore", "statecraft-capture-tenant-restore-secrets",
		"statecraft-capture-tenant-restore-administration")
	text, err := os.ReadFile("testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := objectsOf(t, string(text))
	r := s.ends(s.ask("first", checkpointOf(t, s.c, objects, empty), nil), capturev1.ReasonCompleted)
	checkKinds(t, r, capturev1.ResultCreated)

	for _, obj := range objects {
		obj.SetLabels(merged(obj, map[string]string{"changed": "yes"}))
	}
	replace := func(spec *capturev1.ManifestRestoreRequestSpec) { spec.ConflictPolicy = capturev1.ConflictReplace }
	r = s.ends(s.ask("second", checkpointOf(t, s.c, objects, empty), replace), capturev1.ReasonCompleted)
	checkKinds(t, r, capturev1.ResultReplaced)
}

func merged(obj *unstructured.Unstructured, more map[string]string) map[string]string {
	for key, value := range obj.GetLabels() {
		more[key] = value
	}
	return more
}

// checkKinds compares what was restored with what the roles name.
func checkKinds(t *testing.T, r *capturev1.ManifestRestoreRequest, want capturev1.RestoreResult) {
	t.Helper()
	wanted, got := map[string]string{}, map[string]string{}
	for _, resource := range restorable(t) {
		wanted[resource] = string(want)
	}
	for _, one := range r.Status.Results {
		got[strings.TrimSuffix(one.Resource+"."+one.Group, ".")] = strings.TrimSpace(string(one.Result) + " " + one.Message)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s: by kind (-want +got):\n%s", r.Name, diff)
	}
}

// restorable are the resources that the shipped roles let an account create.
func restorable(t *testing.T) (all []string) {
	t.Helper()
	objects, err := config.Objects(area, harness.SystemNamespace, config.Roles)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		var role rbacv1.ClusterRole
		if !strings.HasPrefix(obj.GetName(), "statecraft-capture-tenant-restore") {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if group := rule.APIGroups[0]; strings.Contains(strings.Join(rule.Verbs, " "), "create") && !notServed[group] {
				for _, resource := range rule.Resources {
					all = append(all, strings.TrimSuffix(resource+"."+group, "."))
				}
			}
		}
	}
	return all
}
