// Package harness installs the product on a bed, and has what tests on a real API server need.
package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Install applies an area's CRDs, roles and admission policies, as an administrator would,
// and returns once the policies are in force.
func Install(t testing.TB, b *bed.Bed, area string) {
	t.Helper()
	config := filepath.Join(Root(t), "config")
	bedtest.InstallCRDs(t, b, filepath.Join(config, "crd", area))
	paths := []string{filepath.Join(config, "rbac", "namespace.yaml"), filepath.Join(config, "rbac", area)}
	policies := filepath.Join(config, "admission", area)
	if _, err := os.Stat(policies); err == nil {
		paths = append(paths, policies)
	}
	for _, path := range paths {
		if out, err := b.Kubectl(t.Context(), "apply", "-f", path); err != nil {
			t.Fatalf("install area %s: %v\n%s", area, err, out)
		}
	}
	if try, ok := inForce[area]; ok {
		Eventually(t, timeout.Wait, policiesPoll, func() error { return try(t.Context(), b) })
	}
}

// Root is the root of the checkout.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above the test: %v", err)
	return ""
}

// SystemNamespace is where the product lives.
const SystemNamespace = "statecraft-system"

// User is who the manager of an area is to the API server.
func User(area string) string {
	return "system:serviceaccount:" + SystemNamespace + ":statecraft-" + area
}
