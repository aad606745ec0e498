// Package chart tests what Helm makes of the chart. No cluster is asked.
package chart

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const namespace = "platform"

// render lets Helm render the chart.
func render(t *testing.T, flags ...string) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	return renderChart(t, filepath.Join(harness.Root(t), "charts", "statecraft"), flags...)
}

func renderChart(t *testing.T, chart string, flags ...string) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	dir, err := parts.Dir(t.Context(), parts.Helm)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"template", "prod", chart, "--namespace=" + namespace}, flags...)
	cmd := exec.Command(filepath.Join(dir, "helm"), args...)
	for _, folder := range []string{"CACHE", "CONFIG", "DATA"} {
		cmd.Env = append(cmd.Environ(), "HELM_"+folder+"_HOME="+t.TempDir())
	}
	out, err := cmd.Output()
	if err != nil {
		var words string
		if failed, is := err.(*exec.ExitError); is { //nolint:errorlint // it is made two lines above
			words = string(failed.Stderr)
		}
		return nil, fmt.Errorf("%w: %s", err, words)
	}
	objects, err := config.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	return byName(t, objects), nil
}

func mustRender(t *testing.T, flags ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := render(t, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func byName(t *testing.T, objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	t.Helper()
	named := map[string]*unstructured.Unstructured{}
	for _, obj := range objects {
		name := obj.GetKind() + " " + obj.GetNamespace() + "/" + obj.GetName()
		if named[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		named[name] = obj
	}
	return named
}

// shipped is what config has for areas, as the chart has it.
func shipped(t *testing.T, names ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := config.Objects("statecraft", namespace, config.Roles)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		of, err := config.Objects(name, namespace, config.Kinds, config.Roles, config.Policies, config.Defaults)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, slices.DeleteFunc(of, func(o *unstructured.Unstructured) bool {
			return strings.HasSuffix(o.GroupVersionKind().Group, ".statecraft.dev") // a manager makes them
		})...)
	}
	for _, obj := range objects {
		if obj.GetKind() == "CustomResourceDefinition" { // all that the chart adds
			annotations := obj.GetAnnotations()
			annotations["helm.sh/resource-policy"] = "keep"
			obj.SetAnnotations(annotations)
		}
	}
	return byName(t, objects)
}

// compare compares object by object, but for what only the chart has: managers and their budgets.
func compare(t *testing.T, is, want map[string]*unstructured.Unstructured, managers ...string) {
	t.Helper()
	for _, area := range managers {
		for _, kind := range []string{"Deployment", "PodDisruptionBudget"} {
			name := fmt.Sprintf("%s %s/statecraft-%s", kind, namespace, area)
			if is[name] == nil {
				t.Errorf("%s is not rendered", name)
			}
			delete(is, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch {
		case is[name] == nil:
			t.Errorf("%s is not rendered", name)
		case !equality.Semantic.DeepEqual(is[name].Object, want[name].Object):
			t.Errorf("%s is another than that of config", name)
		}
		delete(is, name)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		t.Errorf("%s is rendered, and config does not have it", name)
	}
}

func names() (all []string) {
	for _, a := range areas.All() {
		all = append(all, a.Name)
	}
	return all
}

func TestTheChartIsConfig(t *testing.T) {
	t.Parallel()
	compare(t, mustRender(t), shipped(t, names()...), names()...)
}

func TestEachAreaAlone(t *testing.T) {
	t.Parallel()
	for _, alone := range names() {
		var flags []string
		for _, name := range names() {
			flags = append(flags, fmt.Sprintf("--set=areas.%s.enabled=%t", name, name == alone))
		}
		compare(t, mustRender(t, flags...), shipped(t, alone), alone)
	}
}

func TestUnknownValuesAreRefused(t *testing.T) {
	t.Parallel()
	for flag, words := range map[string]string{
		"areas.valkey.replica=3":       "additional properties 'replica' not allowed",
		"area.valkey.enabled=false":    "additional properties 'area' not allowed",
		"areas.redis.enabled=true":     "additional properties 'redis' not allowed",
		"areas.valkey.args={-x}":       "does not match pattern",
		"areas.capture.replicas=0":     "minimum: got 0, want 1",
		"areas.valkey.secretsIn={A b}": "does not match pattern",
		"areas.capture.restorers[0].driver=a b,areas.capture.restorers[0].namespace=disks": "does not match pattern",
		"areas.capture.restorers[0].driver=a,areas.capture.restorers[0].namespace=Disks":   "does not match pattern",
	} {
		if _, err := render(t, "--set="+flag); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, which should say %q", flag, err, words)
		}
	}
}

// Secrets may be read where values say, and nowhere else.
func TestSecretsInChosenNamespaces(t *testing.T) {
	t.Parallel()
	objects := mustRender(t, "--set=areas.valkey.secretsIn={a,b,a}")
	for _, name := range []string{"a", "b"} {
		if objects["RoleBinding "+name+"/statecraft-valkey-secrets"] == nil {
			t.Errorf("no binding in %s", name)
		}
	}
	if objects["ClusterRoleBinding /statecraft-valkey-secrets"] != nil {
		t.Error("Secrets of all namespaces can be read")
	}
	if none := mustRender(t, "--set-json=areas.valkey.secretsIn=[]"); none["ClusterRoleBinding /statecraft-valkey-secrets"] != nil {
		t.Error("nobody asked for Secrets, and all can be read")
	}
}

// The name of a namespace may read as a number, or as no value at all.
func TestNamesOfNamespacesAreText(t *testing.T) {
	t.Parallel()
	objects := mustRender(t, "--namespace=1234", "--set-json=areas.valkey.secretsIn=[\"1e3\",\"null\"]",
		"--set-json=areas.capture.restorers=[{\"namespace\":\"0\",\"driver\":\"7\"}]", "--set=networkPolicies.enabled=true",
		"--set=monitoring.podMonitor=true,monitoring.rules=true,monitoring.dashboards=true")
	for _, name := range []string{
		"RoleBinding 1e3/statecraft-valkey-secrets", "RoleBinding null/statecraft-valkey-secrets", "Secret 0/statecraft-restorer", "Role 0/statecraft-restorer-7",
		"Deployment 1234/statecraft-valkey", "NetworkPolicy 1234/statecraft-capture", "PrometheusRule 1234/statecraft", "ConfigMap 1234/statecraft-dashboard-valkey",
	} {
		if objects[name] == nil {
			t.Errorf("%s is not rendered", name)
		}
	}
}

// nodeImage is the argument by which a manager knows the image of users' pods.
func nodeImage(t *testing.T, objects map[string]*unstructured.Unstructured) string {
	t.Helper()
	manager := objects["Deployment "+namespace+"/statecraft-valkey"]
	containers, _, _ := unstructured.NestedSlice(manager.Object, "spec", "template", "spec", "containers")
	args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	for _, arg := range args {
		if _, image, is := strings.Cut(arg, "-image="); is {
			return image
		}
	}
	t.Fatalf("no image in %v", args)
	return ""
}

// Users' pods name their image by its digest, which is that of its code, and by a registry that can stay.
func TestTheImageOfUsersPodsStays(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0", 64)
	objects := mustRender(t, "--set=image.registry=new,image.podRegistry=old,image.digests.valkey-node="+digest)
	if image := nodeImage(t, objects); image != "old/valkey-node@"+digest {
		t.Error(image)
	}
	if image := nodeImage(t, mustRender(t, "--set=image.registry=new")); image != "new/valkey-node:0.0.0-dev" {
		t.Error(image)
	}
	packed := t.TempDir()
	if err := os.CopyFS(packed, os.DirFS(filepath.Join(harness.Root(t), "charts", "statecraft"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(packed, "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "0.0.0-dev", "0.1.0")), 0o600); err != nil {
		t.Fatal(err)
	}
	for image, other := range map[string]string{"valkey-node": "action", "action": "valkey-node"} {
		others := "--set=image.digests." + other + "=" + digest
		if _, err := renderChart(t, packed, others); err == nil || !strings.Contains(err.Error(), "image.digests."+image+" is empty") {
			t.Error(err)
		}
		if _, err := renderChart(t, packed, others, "--set=image.digests."+image+"="+digest); err != nil {
			t.Error(err)
		}
	}
}

// Two drivers may run in one namespace, and one driver in two.
func TestRestorersHaveTheirDriversOnly(t *testing.T) {
	t.Parallel()
	var flags []string
	for i, at := range [][2]string{{"disks", "a.example.com"}, {"disks", "b.example.com"}, {"other", "a.example.com"}} {
		flags = append(flags, fmt.Sprintf("--set=areas.capture.restorers[%d].namespace=%s", i, at[0]),
			fmt.Sprintf("--set=areas.capture.restorers[%d].driver=%s", i, at[1]))
	}
	objects := mustRender(t, flags...)
	for _, name := range []string{
		"ServiceAccount disks/statecraft-restorer", "ServiceAccount other/statecraft-restorer", "Secret disks/statecraft-restorer",
		"Role disks/statecraft-restorer-a.example.com", "RoleBinding disks/statecraft-restorer-b.example.com",
		"ClusterRole /statecraft-restorer", "ClusterRoleBinding /statecraft-restorer-disks", "Role other/statecraft-restorer",
		"ClusterRole /statecraft-restorer-disks-a.example.com", "ClusterRoleBinding /statecraft-restorer-disks-b.example.com",
		"ClusterRoleBinding /statecraft-restorer-other-a.example.com",
	} {
		if objects[name] == nil {
			t.Errorf("%s is not rendered", name)
		}
	}
	for name, want := range map[string]string{
		"ClusterRole /statecraft-restorer-other-a.example.com": "[a.example.com]",
		"Role disks/statecraft-restorer-a.example.com":         "[statecraft-restorer-a.example.com]",
	} {
		rules, _, _ := unstructured.NestedSlice(objects[name].Object, "rules")
		if got := fmt.Sprint(rules); !strings.Contains(got, want) || strings.Contains(got, "b.example.com") {
			t.Errorf("rules %s", got)
		}
	}
	// Pods of others mount the token: without it they could not start.
	for _, name := range []string{"ServiceAccount disks/statecraft-restorer", "Secret disks/statecraft-restorer"} {
		if objects[name].GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s goes with the release", name)
		}
	}
}
