package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// full builds for all platforms, and the second time with an empty cache. That takes minutes.
var full = os.Getenv("LEVEL") == "full"

func platforms() []v1.Platform {
	if full {
		return all
	}
	return all[:1]
}

// buildFrom builds a checkout and returns what is in the folder that it was built in.
func buildFrom(t *testing.T, c checkout) (dir string, images []built) {
	t.Helper()
	return buildWith(t, builder{compile: c.compile, version: c.version, commit: c.commit, platforms: platforms()})
}

func buildWith(t *testing.T, b builder) (dir string, images []built) {
	t.Helper()
	b.out = t.TempDir()
	if err := b.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	images, err := readAll(b.out)
	if err != nil {
		t.Fatal(err)
	}
	return b.out, images
}

const root = "../.."

// first is a build that tests share.
func first(t *testing.T) (dir string, images []built) {
	t.Helper()
	shared.Do(func() {
		c := checkout{root: root, version: "0.1.0-test.1", commit: "1a2b3c4"}
		b := builder{compile: c.compile, version: c.version, commit: c.commit, platforms: platforms(), out: shared.dir}
		shared.err = b.build(t.Context())
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	images, err := readAll(shared.dir)
	if err != nil {
		t.Fatal(err)
	}
	return shared.dir, images
}

var shared struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	var err error
	if shared.dir, err = os.MkdirTemp("", "statecraft-images-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(shared.dir) // in the folder for temporary files
	os.Exit(code)
}

// TestTheSameBytesEverywhere: who builds a release again, elsewhere, gets its digests.
func TestTheSameBytesEverywhere(t *testing.T) {
	c := checkout{root: copyOf(t, root), version: "0.1.0-test.1", commit: "1a2b3c4"}
	if full {
		c.env = []string{"GOCACHE=" + t.TempDir()}
	}
	again, _ := buildFrom(t, c)
	dir, _ := first(t)
	for _, file := range allFiles(t, dir) {
		want, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(again, file)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not the same in the second build: %v", file, err)
		}
	}
}

// TestAReleaseRestartsNoServer: the image that is part of users' pods is the same in all versions.
func TestAReleaseRestartsNoServer(t *testing.T) {
	_, old := first(t)
	_, released := buildFrom(t, checkout{root: root, version: "0.2.0", commit: "5d6e7f8"})
	inPodsOfUsers := []string{"valkey-node"}
	if len(old) != len(programs) {
		t.Errorf("%d images of %d programs", len(old), len(programs))
	}
	for i, image := range old {
		if same := image.digest == released[i].digest; same != slices.Contains(inPodsOfUsers, image.name) {
			t.Errorf("image %s of two versions: %s and %s", image.name, image.digest, released[i].digest)
		}
	}
}

// copyOf is a folder with the files that git would keep of another.
func copyOf(t *testing.T, root string) string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		to := filepath.Join(dir, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func allFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, file)
		}
		return err
	})
	if err != nil || len(files) < len(programs) {
		t.Fatalf("find files of a build: %d, %v", len(files), err)
	}
	return files
}
