package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// den is where the mutants of a table were built together.
type den struct {
	dir      string
	overlay  string
	alone    map[string]bool // those that were not, by name
	mu       sync.Mutex
	binaries map[string]*binary // by package
}

// binary is the tests of one package, with all mutants woven in.
type binary struct {
	once   sync.Once
	file   string
	folder string   // of the package
	flags  []string // that only some understand
	err    error
}

// nameOf is what a mutant is called in the code.
func nameOf(i int) string { return fmt.Sprintf("m%03d", i) }

// prepare weaves the mutants of a table into their files, all but some.
func (t table) prepare(dir string, but ...string) (*den, error) {
	d := &den{dir: dir, overlay: filepath.Join(dir, "overlay.json"), alone: map[string]bool{}, binaries: map[string]*binary{}}
	byFile := map[string]map[string]mutant{}
	for i, m := range t.mutants {
		if slices.Contains(but, nameOf(i)) {
			d.alone[nameOf(i)] = true
			continue
		}
		if byFile[m.file] == nil {
			byFile[m.file] = map[string]mutant{}
		}
		byFile[m.file][nameOf(i)] = m
	}
	replace := map[string]string{}
	for file, mutants := range byFile {
		if err := d.weave(file, mutants, replace); err != nil {
			return nil, err
		}
	}
	return d, writeOverlay(d.overlay, replace)
}

func (d *den) weave(file string, mutants map[string]mutant, replace map[string]string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("no longer applies: %w", err)
	}
	for name, m := range mutants {
		if _, err := m.apply(string(source)); err != nil { // it will be said when it is tried
			d.alone[name] = true
			delete(mutants, name)
		}
	}
	text, pkg, left := weave(string(source), mutants)
	for _, name := range left {
		d.alone[name] = true
	}
	if pkg == "" {
		return nil
	}
	add := func(at, text string) error {
		shown := filepath.Join(d.dir, strings.ReplaceAll(strings.Trim(at, "/"), "/", "_"))
		replace[at] = shown
		return os.WriteFile(shown, []byte(text), 0o600)
	}
	return errors.Join(add(path, text), add(filepath.Join(filepath.Dir(path), aliveFile), fmt.Sprintf(aliveText, pkg, aliveVariable)))
}

var (
	complaint = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)
	declared  = regexp.MustCompile(`^func .*_mutant_(m\d+)[\[(]`)
)

// blame finds the mutants that a compiler complains of: those whose functions the lines are in.
func blame(output string) (names []string) {
	for _, c := range complaint.FindAllStringSubmatch(output, -1) {
		text, err := os.ReadFile(c[1])
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		line, _ := strconv.Atoi(c[2])
		for _, l := range slices.Backward(lines[:min(line, len(lines))]) {
			if m := declared.FindStringSubmatch(l); m != nil {
				names = append(names, m[1])
				break
			}
		}
	}
	return names
}

func writeOverlay(file string, replace map[string]string) error {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// tests is the binary of a package. Its first caller builds it.
func (d *den) tests(ctx context.Context, pkg string) (*binary, error) {
	d.mu.Lock()
	b := d.binaries[pkg]
	if b == nil {
		b = &binary{file: filepath.Join(d.dir, fmt.Sprintf("%d.test", len(d.binaries))), folder: pkg}
		d.binaries[pkg] = b
	}
	d.mu.Unlock()
	b.once.Do(func() { b.err = b.build(ctx, d.overlay) })
	return b, b.err
}

func (b *binary) build(ctx context.Context, overlay string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", b.file, b.folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests of %s with all mutants: %w\n%s", b.folder, err, out)
	}
	text, err := os.ReadFile(b.file)
	if bytes.Contains(text, []byte("rapid.nofailfile")) { // it would write into the tree
		b.flags = []string{"-rapid.nofailfile"}
	}
	return err
}

// run runs tests over one mutant, or over none.
func (b *binary) run(ctx context.Context, mutant string, which test) (output string, err error) {
	args := append([]string{"-test.failfast", "-test.timeout=3m", "-test.run=" + which.run, "-test.skip=" + which.skip}, b.flags...)
	cmd := exec.CommandContext(ctx, b.file, args...)
	cmd.Dir = b.folder
	cmd.Env = append(os.Environ(), aliveVariable+"="+mutant)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
