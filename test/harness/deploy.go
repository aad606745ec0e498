package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// managerImage is what the manifests in config/manager name.
const managerImage = "statecraft.local/manager:dev"

// Args are what the manager of an area is told in tests, unless they say otherwise: what is deleted goes at once.
func Args(area string) []string {
	if area == "capture" {
		return []string{"--capture-retention-min=0s"}
	}
	return nil
}

// withArgs adds arguments to those of a manager's manifest.
func withArgs(manifest, area string) string {
	const first = "        - --areas="
	for _, arg := range Args(area) {
		manifest = strings.Replace(manifest, first, "        - "+arg+"\n"+first, 1)
	}
	return manifest
}

// Deploy runs the manager of an area in pods and waits until they are ready.
func Deploy(t testing.TB, b *bed.Bed, area, timeout string) {
	t.Helper()
	archive, err := bed.ProgramImage(t.Context(), managerImage, "github.com/statecraft-dev/statecraft/cmd/statecraft-manager")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.LoadImage(t.Context(), archive); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(Root(t), "config", "manager", area+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	Apply(t, b, withArgs(string(manifest), area))
	for _, args := range [][]string{
		{"rollout", "status", "deployment/statecraft-" + area, "-n", SystemNamespace, "--timeout=" + timeout},
	} {
		if out, err := b.Kubectl(t.Context(), args...); err != nil {
			pods, _ := b.Kubectl(t.Context(), "describe", "pods", "-n", SystemNamespace)
			t.Fatalf("deploy area %s: %v\n%s\n%s", area, err, out, pods)
		}
	}
}

// Apply applies a manifest.
func Apply(t testing.TB, b *bed.Bed, manifest string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := b.Kubectl(t.Context(), "apply", "-f", path); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
