package law_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/statecraft-dev/statecraft/internal/law"
)

// TestCommand runs the command of make verify over one small module per claim. The
// head of each file lists the breaches that must be reported, and nothing else.
func TestCommand(t *testing.T) {
	command := filepath.Join(t.TempDir(), "law")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, law.Module+"/hack/law").CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("find modules in testdata: %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), command, "-C", unpack(t, archive))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err = cmd.Run()
			want := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
			if want[0] == "lawful" {
				want = nil
			}
			if failed := errors.As(err, new(*exec.ExitError)); failed != (len(want) > 0) {
				t.Errorf("the command ended with %v\n%s", err, stderr.String())
			}
			if diff := cmp.Diff(want, breaches(stderr.String())); diff != "" {
				t.Errorf("breaches (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroups shows that every tested package of this module is in one group.
func TestGroups(t *testing.T) {
	tree, err := law.Load(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, group := range []string{law.Quick, law.Servers, law.Alone, law.Integration, law.Sim, law.E2E, law.Bench} {
		paths, err := tree.Group(group)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			seen[strings.TrimPrefix(p, "./")]++
		}
	}
	for _, p := range tree.Packages {
		if p.Tested && seen[p.Path] != 1 {
			t.Errorf("%s is in %d groups", p.Path, seen[p.Path])
		}
	}
	if _, err := tree.Group("slow"); err == nil {
		t.Error("an unknown group is not refused")
	}
}

func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	mod := txtar.File{Name: "go.mod", Data: []byte("module " + law.Module + "\n\ngo 1.26\n")}
	for _, f := range append([]txtar.File{mod}, archive.Files...) {
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// breaches leaves out the why of a rule and the count at the end.
func breaches(stderr string) (lines []string) {
	for line := range strings.Lines(stderr) {
		if said, rule, ok := strings.Cut(line, " (rule "); ok {
			name, _, _ := strings.Cut(rule, ":")
			lines = append(lines, said+", rule "+name)
		}
	}
	return lines
}
