// Package docs applies every manifest that the project shows to people.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestMain(m *testing.M) { bedtest.Main(m) }

// TestManifestsAreAccepted applies samples, and manifests in the documents, on a
// real API server, without keeping them.
func TestManifestsAreAccepted(t *testing.T) {
	b, root := bedtest.ControlPlane(t), harness.Root(t)
	areas, err := os.ReadDir(filepath.Join(root, "config", "crd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, area := range areas {
		harness.Install(t, b, area.Name())
	}
	for _, namespace := range []string{"shop", "staging"} { // where samples live
		if out, err := b.Kubectl(t.Context(), "create", "namespace", namespace); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for name, manifest := range manifests(t, root) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "manifest.yaml")
			if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := b.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", path); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// manifests finds whole objects: files below config, and fenced yaml in documents.
func manifests(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sample := strings.HasPrefix(name, filepath.Join("config", "samples"))
		document := strings.HasSuffix(name, ".md")
		if !sample && !document {
			return nil
		}
		text, err := os.ReadFile(path)
		if sample {
			found[name] = string(text)
			return err
		}
		for i, block := range strings.Split(string(text), "```yaml\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			template := strings.Contains(block, "{{") // of which kubectl makes a manifest
			if strings.Contains(block, "apiVersion:") && strings.Contains(block, "\nkind:") && !template {
				found[name+"#"+string(rune('1'+i))] = block
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 {
		t.Fatalf("found only %d manifests", len(found))
	}
	return found
}
