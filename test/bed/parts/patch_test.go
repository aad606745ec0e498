package parts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestACorrectionThatDoesNotFitStopsTheBuild(t *testing.T) {
	root := t.TempDir()
	source := filepath.Join(root, "source.go")
	if err := os.WriteFile(source, []byte("a b b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"c", "b"} {
		if err := (correction{file: "source.go", old: old}).apply(root); !errors.Is(err, errNoMatch) {
			t.Errorf("%q in %q: %v", old, "a b b", err)
		}
	}
	// Two corrections of one file add up.
	for _, c := range []correction{{file: "source.go", old: "a", new: "x y"}, {file: "source.go", old: "x ", new: ""}} {
		if err := c.apply(root); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(source)
	if err != nil || string(got) != "y b b" {
		t.Errorf("corrected to %q, %v", got, err)
	}
}
