package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of several versions the one that was packed last stays, so that dist/statecraft-*.tgz is one file.
func TestOnePackageStays(t *testing.T) {
	t.Chdir("../..")
	out := t.TempDir()
	images := filepath.Join(out, "images.txt")
	if err := os.WriteFile(images, []byte("manager sha256:"+zeros+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"0.2.0", "0.1.0"} {
		if err := (pack{version: version, registry: "r", images: images, out: out}).write(); err != nil {
			t.Fatal(err)
		}
	}
	found, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{images, filepath.Join(out, "statecraft-0.1.0.tgz")}, found); diff != "" {
		t.Error(diff)
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
