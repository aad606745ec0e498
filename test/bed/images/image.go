package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// ErrUnknown says that there is no image of that tag.
var ErrUnknown = errors.New("unknown image")

// A recipe says what is in an image.
type recipe interface {
	// key changes whenever the recipe makes something else.
	key() string
	// assemble returns the image; scratch is a directory for its layers.
	assemble(ctx context.Context, scratch string) (archive.Image, error)
}

type assembler func(ctx context.Context, scratch string) (archive.Image, error)

// Archive returns the path of an image's docker archive and makes it first if it is missing.
func Archive(ctx context.Context, tag string) (string, error) {
	if pkg, ours := programs[tag]; ours {
		return Program(ctx, tag, pkg)
	}
	recipe, ok := recipes[tag]
	if !ok {
		return "", fmt.Errorf("%w %q", ErrUnknown, tag)
	}
	return cached(ctx, fileName(tag)+"-"+recipe.key(), tag, recipe.assemble)
}

// Program returns the path of an archive of a command of this repository, static on an empty base. It runs as
// an ordinary user and finds a /tmp to write to.
func Program(ctx context.Context, tag, pkg string) (string, error) {
	binary, err := parts.Program(ctx, pkg)
	if err != nil {
		return "", err
	}
	// The binary's directory is named after its content.
	key := fileName(tag) + "-" + filepath.Base(filepath.Dir(binary))
	return cached(ctx, key, tag, func(context.Context, string) (archive.Image, error) {
		return programImage(binary)
	})
}

func cached(ctx context.Context, name, tag string, assemble assembler) (string, error) {
	dir, err := parts.Cached(ctx, filepath.Join("images", name), func(ctx context.Context, out string) error {
		began := time.Now()
		scratch, err := os.MkdirTemp(out, "scratch-")
		if err != nil {
			return fmt.Errorf("make scratch directory: %w", err)
		}
		image, err := assemble(ctx, scratch)
		if err != nil {
			return fmt.Errorf("make image %s: %w", tag, err)
		}
		image.Tag = tag
		if err := image.WriteFile(filepath.Join(out, archiveName)); err != nil {
			return err
		}
		if err := os.RemoveAll(scratch); err != nil {
			return fmt.Errorf("remove scratch directory: %w", err)
		}
		fmt.Fprintf(parts.Progress, "bed: made image %s in %s\n", tag, time.Since(began).Round(time.Second))
		return nil
	})
	return filepath.Join(dir, archiveName), err
}

const archiveName = "image.tar"

func fileName(tag string) string {
	return strings.NewReplacer("/", "_", ":", "_").Replace(tag)
}
