//go:build full

package product

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestPlainManifestWorks installs what `make chart` writes to dist/install.yaml, without Helm, on a cluster that has nothing
// of ours, not even the namespace.
func TestPlainManifestWorks(t *testing.T) {
	s := newEmptyStage(t, config.Namespace)
	s.isEmpty()
	if there := s.kubectl("get", "namespace", "-o", "name"); strings.Contains(there, s.system) {
		t.Fatalf("the namespace is there:\n%s", there)
	}
	file := s.manifest(s.load(first).Chart)
	s.kubectl(append(strings.Fields(manifestCommand)[1:], file)...)
	t.Cleanup(func() { // nothing of it belongs to a release
		s.deleteObjects()
		if out, err := s.bed.Kubectl(context.WithoutCancel(t.Context()), "delete", "-f", file, "--timeout=120s"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	s.managersReady()
	s.works()
}

// isEmpty: the cluster has no kinds of ours, and nothing of ours that belongs to no namespace.
func (s *stage) isEmpty() {
	s.Helper()
	for line := range strings.Lines(s.kubectl("get", "crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,"+
		"mutatingadmissionpolicy,mutatingadmissionpolicybinding", "-o", "name")) {
		if strings.Contains(line, "statecraft") {
			s.Errorf("the cluster is not empty: %s", line)
		}
	}
}

// manifest lets the script of `make chart` write the manifest of a packed chart.
func (s *stage) manifest(chart string) (file string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), filepath.Join(harness.Root(s), "hack", "manifest"), chart)
	text, err := cmd.Output()
	if err != nil {
		s.Fatalf("%v\n%s", err, text)
	}
	file = filepath.Join(s.TempDir(), "install.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.Fatal(err)
	}
	return file
}
