package kube

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPodKnowsItsNamespace(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{"platform\n": "platform", "prod": "prod", "": DefaultNamespace} {
		file := filepath.Join(dir, "namespace")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ownNamespace(file); got != want {
			t.Errorf("a file that holds %q: %s, not %s", content, got, want)
		}
	}
	if got := ownNamespace(filepath.Join(dir, "none")); got != DefaultNamespace {
		t.Errorf("outside a pod: %s", got)
	}
}
