package parts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSeveralWhoAskAtOnceShareOneBuild(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	var builds atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			dir, err := Cached(t.Context(), "thing", func(_ context.Context, out string) error {
				builds.Add(1)
				return os.WriteFile(filepath.Join(out, "file"), nil, 0o600)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if builds.Load() != 1 {
		t.Errorf("%d builds, want 1", builds.Load())
	}
}

func TestABuildThatFailedIsTriedAnewAndLeavesNothing(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	broken := errors.New("broken")
	_, err := Cached(t.Context(), "thing", func(_ context.Context, out string) error {
		return errors.Join(broken, os.WriteFile(filepath.Join(out, "half"), nil, 0o600))
	})
	if !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	dir, err := Cached(t.Context(), "thing", func(context.Context, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "half")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failed build is part of the next: %v", err)
	}
}

func TestAChangedRecipeIsAnotherDirectory(t *testing.T) {
	first, err := module{dir: "etcd", ldflags: "-X a=1"}.key()
	if err != nil {
		t.Fatal(err)
	}
	second, err := module{dir: "etcd", ldflags: "-X a=2"}.key()
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Error("flags do not tell builds apart")
	}
}

func TestPartsOfTheFullLevelAreLeftOut(t *testing.T) {
	was := table
	t.Cleanup(func() { table = was })
	table = []Part{{Name: "a"}, {Name: "b", Full: true}, {Name: "c"}}
	names := func(parts []Part) (all string) {
		for _, p := range parts {
			all += p.Name
		}
		return all
	}
	if got := names(Core()) + " of " + names(All()); got != "ac of abc" {
		t.Errorf("built %s, want ac of abc", got)
	}
}

func TestEveryPartHasItsOwnName(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range All() {
		if seen[part.Name] || part.Name == "" || part.Version == "" {
			t.Errorf("part %q %q is unnamed or twice in the table", part.Name, part.Version)
		}
		seen[part.Name] = true
	}
	if _, err := Dir(t.Context(), "no-such-part"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown part: %v", err)
	}
}
