package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// Args are what the manager of an area is told in tests, unless they say otherwise: what is deleted goes at once, and executions
// that are made, and fail, one after the other are no reason to wait.
func Args(area string) []string {
	switch area {
	case "capture":
		return []string{"--capture-retention-min=0s"}
	case "remediation":
		return []string{"--remediation-cooldown=0s", "--remediation-rate-per-namespace=0", "--remediation-storm-failures=0"}
	}
	return nil
}

// RolledOut waits until the managers of an area are ready.
func RolledOut(t testing.TB, b *bed.Bed, namespace, area, timeout string) {
	t.Helper()
	out, err := b.Kubectl(t.Context(), "rollout", "status", "deployment/statecraft-"+area, "-n", namespace, "--timeout="+timeout)
	if err != nil {
		pods, _ := b.Kubectl(t.Context(), "describe", "pods", "-n", namespace)
		t.Fatalf("deploy area %s: %v\n%s\n%s", area, err, out, pods)
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
