package parts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
)

// programLifetime is how long a program of ours is kept: its sources change all day.
const programLifetime = 24 * time.Hour

// built are the programs that this process has built, by package.
var built = struct {
	sync.Mutex
	paths map[string]string
}{paths: map[string]string{}}

// Program builds a command of this repository, static, and returns the path of the binary. The path tells by a
// hash what it holds, so a running bed keeps the binary it was started with. A process builds each command once:
// linking is not cached, and a dozen tests that start side by side would all link at once.
func Program(ctx context.Context, pkg string) (string, error) {
	built.Lock()
	defer built.Unlock()
	if path, done := built.paths[pkg]; done {
		return path, nil
	}
	path, err := buildProgram(ctx, pkg)
	if err == nil {
		built.paths[pkg] = path
	}
	return path, err
}

func buildProgram(ctx context.Context, pkg string) (string, error) {
	root, err := Checkout()
	if err != nil {
		return "", err
	}
	build, err := os.MkdirTemp("", "statecraft-build-")
	if err != nil {
		return "", fmt.Errorf("make build directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(build) }()
	name := path.Base(pkg)
	binary := filepath.Join(build, name)
	if err := run(ctx, root, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, pkg); err != nil {
		return "", err
	}
	sum, err := hashFile(binary)
	if err != nil {
		return "", err
	}
	dir, err := Cached(ctx, filepath.Join("programs", name+"-"+sum[:12]), func(_ context.Context, out string) error {
		return copyFile(binary, filepath.Join(out, name))
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), forgetOldPrograms(dir, name)
}

// forgetOldPrograms removes what was built of that name more than a day ago, but not the one just asked for.
func forgetOldPrograms(keep, name string) error {
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(keep), name+"-*"))
	if err != nil {
		return fmt.Errorf("list programs: %w", err)
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || dir == keep || time.Since(info.ModTime()) < programLifetime {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove old program: %w", err)
		}
	}
	return nil
}

func hashFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("hash program: %w", err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("hash program: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy program: %w", err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		return fmt.Errorf("copy program: %w", err)
	}
	return nil
}
