package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoMatch says that a correction does not fit the source any more.
var errNoMatch = errors.New("text to correct is not there exactly once")

// correction replaces a few lines of a dependency while it is built. Nothing of the dependency is kept here.
type correction struct {
	module   string
	file     string
	old, new string
}

// corrected copies the dependencies to correct into dir and returns the flags that make the compiler use the copies.
func (m module) corrected(ctx context.Context, source, dir string) ([]string, error) {
	if len(m.corrections) == 0 {
		return nil, nil
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(source, file), filepath.Join(dir, file)); err != nil {
			return nil, err
		}
	}
	modfile := filepath.Join(dir, "go.mod")
	copies := map[string]string{}
	for _, c := range m.corrections {
		if copies[c.module] == "" {
			original, err := moduleDir(ctx, source, c.module)
			if err != nil {
				return nil, err
			}
			copies[c.module] = filepath.Join(dir, shortHash(c.module))
			if err := os.CopyFS(copies[c.module], os.DirFS(original)); err != nil {
				return nil, fmt.Errorf("copy sources of %s: %w", c.module, err)
			}
			replace := "-replace=" + c.module + "=" + copies[c.module]
			if err := run(ctx, dir, nil, "go", "mod", "edit", replace, modfile); err != nil {
				return nil, err
			}
		}
		if err := c.apply(copies[c.module]); err != nil {
			return nil, err
		}
	}
	return []string{"-modfile", modfile}, nil
}

func (c correction) apply(root string) error {
	file := filepath.Join(root, c.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read source to correct: %w", err)
	}
	if strings.Count(string(text), c.old) != 1 {
		return fmt.Errorf("correct %s: %w", c.file, errNoMatch)
	}
	text = []byte(strings.Replace(string(text), c.old, c.new, 1))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("write correction: %w", err)
	}
	return nil
}

// copyFiles copies files of dependencies that are used as they are. A pattern is matched below its module.
func (m module) copyFiles(ctx context.Context, source, out string) error {
	for name, pattern := range m.files {
		root, err := moduleDir(ctx, source, name)
		if err != nil {
			return err
		}
		if err := copyMatching(root, pattern, out); err != nil {
			return err
		}
	}
	return nil
}

// copyMatching copies the files below a folder that a pattern matches.
func copyMatching(root, pattern, out string) error {
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find %s in %s: %d files, %w", pattern, root, len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("copy file: %w", err)
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(file)), content, 0o644); err != nil {
			return fmt.Errorf("copy file: %w", err)
		}
	}
	return nil
}

// moduleDir is where the sources of a dependency of a nested module lie.
func moduleDir(ctx context.Context, source, name string) (string, error) {
	if err := run(ctx, source, nil, "go", "mod", "download", name); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-mod=readonly", "-f", "{{.Dir}}", name)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off")
	dir, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find sources of %s: %w", name, err)
	}
	return strings.TrimSpace(string(dir)), nil
}
