package parts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// module builds packages out of a nested module: the way for what `go install` refuses because of replace
// directives, and for what we want to pin down to the last dependency.
type module struct {
	dir      string            // folder beside this file
	packages map[string]string // program → package
	ldflags  string
	tags     string
	links    map[string]string // further name → program
	// corrections mend defects of dependencies that a test would trip over.
	corrections []correction
	// files are copied beside the programs: dependency → pattern below it.
	files map[string]string
}

func (m module) source() (string, error) {
	root, err := Checkout()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "test", "bed", "parts", m.dir), nil
}

func (m module) key() (string, error) {
	source, err := m.source()
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(source, "*"))
	if err != nil {
		return "", err
	}
	sort.Strings(files)
	var key bytes.Buffer
	fmt.Fprintln(&key, m.packages, m.ldflags, m.tags, m.links)
	if len(m.corrections)+len(m.files) > 0 {
		fmt.Fprintln(&key, m.corrections, m.files)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&key, filepath.Base(file), shortHash(string(content)))
	}
	return key.String(), nil
}

func (m module) build(ctx context.Context, _, out string) error {
	source, err := m.source()
	if err != nil {
		return err
	}
	if err := m.compile(ctx, source, out); err != nil {
		return err
	}
	if err := m.copyFiles(ctx, source, out); err != nil {
		return err
	}
	for name, program := range m.links {
		if err := os.Symlink(program, filepath.Join(out, name)); err != nil {
			return fmt.Errorf("link program: %w", err)
		}
	}
	return nil
}

func (m module) compile(ctx context.Context, source, out string) error {
	scratch, err := os.MkdirTemp("", "statecraft-build-")
	if err != nil {
		return fmt.Errorf("make build directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	corrected, err := m.corrected(ctx, source, scratch)
	if err != nil {
		return err
	}
	for program, pkg := range m.packages {
		args := append([]string{"build", "-trimpath", "-mod=readonly"}, corrected...)
		args = append(args, "-tags", m.tags, "-ldflags", strings.TrimSpace("-s -w "+m.ldflags),
			"-o", filepath.Join(out, program), pkg)
		if err := run(ctx, source, []string{"CGO_ENABLED=0"}, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// install builds packages of one released module by `go install`.
type install struct {
	packages []string
	tags     string
}

func (i install) key() (string, error) {
	return fmt.Sprintln(i.packages, i.tags), nil
}

func (i install) build(ctx context.Context, version, out string) error {
	args := []string{"install", "-trimpath", "-tags", i.tags, "-ldflags", "-s -w"}
	for _, pkg := range i.packages {
		args = append(args, pkg+"@"+version)
	}
	return run(ctx, "", []string{"CGO_ENABLED=0", "GOBIN=" + out}, "go", args...)
}

// Run runs a command with its output kept for the error and off the screen otherwise.
func Run(ctx context.Context, env []string, name string, args ...string) error {
	return run(ctx, "", env, name, args...)
}

// run keeps the output of a command for the error and off the screen otherwise.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"GOWORK=off"}, env)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return nil
}
