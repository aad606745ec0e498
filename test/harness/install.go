package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// Install applies an area's CRDs and roles, as an administrator would.
func Install(t testing.TB, b *bed.Bed, area string) {
	t.Helper()
	config := filepath.Join(Root(t), "config")
	bedtest.InstallCRDs(t, b, filepath.Join(config, "crd", area))
	for _, path := range []string{filepath.Join(config, "rbac", "namespace.yaml"), filepath.Join(config, "rbac", area)} {
		if out, err := b.Kubectl(t.Context(), "apply", "-f", path); err != nil {
			t.Fatalf("install area %s: %v\n%s", area, err, out)
		}
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
