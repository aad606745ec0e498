package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
)

// ErrUnknown says that the table has no part of that name.
var ErrUnknown = errors.New("unknown part")

// Part is one program, or a few that belong together, at one exact version.
type Part struct {
	Name    string
	Version string
	Takes   string // about how long a first build takes on two cores, for the person who waits
	// Full says that only tests of LEVEL=full need it. CI runs none of those, and does not build it.
	Full   bool
	recipe recipe
}

// A recipe turns sources into programs.
type recipe interface {
	// key names everything that decides what is built, apart from the part's version.
	key() (string, error)
	// build puts the programs into out.
	build(ctx context.Context, version, out string) error
}

// All lists the parts in the order in which they are built.
func All() []Part { return slices.Clone(table) }

// Core lists those that tests of every change need.
func Core() []Part { return slices.DeleteFunc(All(), func(p Part) bool { return p.Full }) }

// Progress is where a build says what it does; tests and commands may point it elsewhere.
var Progress io.Writer = os.Stderr

// Dir returns the directory of a part's programs and builds them first if they are missing.
func Dir(ctx context.Context, name string) (string, error) {
	for _, part := range table {
		if part.Name == name {
			return part.dir(ctx)
		}
	}
	return "", fmt.Errorf("%w %q", ErrUnknown, name)
}

func (p Part) dir(ctx context.Context) (string, error) {
	key, err := p.recipe.key()
	if err != nil {
		return "", fmt.Errorf("derive key of %s: %w", p.Name, err)
	}
	name := filepath.Join("parts", fmt.Sprintf("%s-%s-%s", p.Name, p.Version, shortHash(key)))
	return Cached(ctx, name, func(ctx context.Context, out string) error {
		fmt.Fprintf(Progress, "bed: building %s %s (about %s, once)\n", p.Name, p.Version, p.Takes)
		began := time.Now()
		if err := p.recipe.build(ctx, p.Version, out); err != nil {
			return fmt.Errorf("build %s %s: %w", p.Name, p.Version, err)
		}
		fmt.Fprintf(Progress, "bed: built %s %s in %s\n", p.Name, p.Version, time.Since(began).Round(time.Second))
		return nil
	})
}

// Cached returns the directory of that name in the cache. If it is missing, fill makes its content; of several
// processes that ask at once one fills it and the others wait.
func Cached(ctx context.Context, name string, fill func(ctx context.Context, out string) error) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, name)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	lock, err := filelock.Wait(ctx, final+".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }()
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	return final, fillAtomically(ctx, final, fill)
}

// fillAtomically relies on the caller's lock: the temporary name is the same for everybody, so that what a
// killed build left behind is found and removed.
func fillAtomically(ctx context.Context, final string, fill func(ctx context.Context, out string) error) error {
	partial := final + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("remove leftover build: %w", err)
	}
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("make build directory: %w", err)
	}
	if err := fill(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, final); err != nil {
		return fmt.Errorf("publish build: %w", err)
	}
	return nil
}
