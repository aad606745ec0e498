package law_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// TestGroups shows that every folder with tests is in one group at level full, and at level core unless all of its tests are
// of level full.
func TestGroups(t *testing.T) {
	for _, tags := range []string{"", "full"} {
		tree, err := law.Load(t.Context(), "../..", tags)
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
		folders := testFolders(t, tags == "full")
		for _, folder := range folders {
			if seen[folder] != 1 {
				t.Errorf("with tags %q %s is in %d groups", tags, folder, seen[folder])
			}
			delete(seen, folder)
		}
		if len(folders) < 50 || len(seen) > 0 {
			t.Errorf("with tags %q %d folders were found; in groups, but without tests: %v", tags, len(folders), seen)
		}
		if _, err := tree.Group("slow"); err == nil {
			t.Error("an unknown group is not refused")
		}
	}
}

// testFolders finds the folders of this module with tests in files, without go list.
func testFolders(t *testing.T, full bool) (folders []string) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if otherModule := err == nil && path != root; otherModule || d.Name() == ".git" || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil || !strings.HasSuffix(path, "_test.go") || slices.Contains(folders, folder) {
			return err
		}
		text, err := os.ReadFile(path)
		if full || !strings.HasPrefix(string(text), "//go:build full\n") {
			folders = append(folders, folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
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
