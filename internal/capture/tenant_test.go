package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
)

// documents are those of all files of a pattern below config.
func documents(t *testing.T, pattern string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files like %s: %v", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Split(string(text), "\n---\n")...)
	}
	return all
}

// TestKindsOfOursAreInTheRolesOfATenant: a capture of everything fails if the account may not list a kind, and ours are
// kinds like any other. Each area labels a role for its own.
func TestKindsOfOursAreInTheRolesOfATenant(t *testing.T) {
	allowed := map[string][]string{} // resources by label
	for _, text := range documents(t, "rbac/*/*.yaml") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatal(err)
		}
		for label := range role.Labels {
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					allowed[label] = append(allowed[label], resource+"."+strings.Join(rule.APIGroups, ","))
				}
			}
		}
	}
	for _, text := range documents(t, "crd/*/*.yaml") {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
			t.Fatal(err)
		}
		served := manifest.Resource{Group: crd.Spec.Group, Version: "v1", Resource: crd.Spec.Names.Plural, Kind: crd.Spec.Names.Kind}
		plan, err := manifest.PlanOf(&capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}}, []manifest.Resource{served})
		if crd.Spec.Scope != apiextensionsv1.NamespaceScoped || err != nil || len(plan.Queries) == 0 {
			continue // no part of a namespace, or never captured
		}
		for _, label := range []string{"capture.statecraft.dev/tenant", "capture.statecraft.dev/tenant-restore"} {
			if !slices.Contains(allowed[label], served.Title()) {
				t.Errorf("no role with label %s has %s", label, served.Title())
			}
		}
	}
}
