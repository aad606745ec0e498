// Package harness installs the product on a bed, and has what tests on a real API server need.
package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Install applies an area's CRDs, roles, admission policies and defaults, as an administrator would,
// and returns once the policies are in force.
func Install(t testing.TB, b *bed.Bed, area string) {
	t.Helper()
	root := filepath.Join(Root(t), "config")
	bedtest.InstallCRDs(t, b, filepath.Join(root, config.Kinds, area))
	manifest := config.NamespaceFor(SystemNamespace)
	for _, folder := range []string{config.Roles, config.Policies, config.Defaults} {
		files, err := config.Files(folder, area, SystemNamespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			manifest = append(append(manifest, "\n---\n"...), file.Content...)
		}
	}
	Apply(t, b, string(manifest))
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
const SystemNamespace = config.Namespace

// User is who the manager of an area is to the API server.
func User(area string) string {
	return "system:serviceaccount:" + SystemNamespace + ":statecraft-" + area
}
