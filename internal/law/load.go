package law

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the prefix that our own import paths lose when loaded.
const Module = "github.com/statecraft-dev/statecraft"

// Tree is a module as the law sees it.
type Tree struct {
	Packages []*Package // ours, in the order of their paths
	imports  map[string][]string
	pure     map[string]bool
}

// Package is one package of ours, without its tests.
type Package struct {
	Path, Name string
	Files      []File
	// Tested says that it has tests, TestImports what they import besides.
	Tested      bool
	TestImports []string
}

// File is one file of a package, by its path below the module.
type File struct {
	Name    string
	Imports []Use
	Calls   []Use
}

// Use is a name and the line on which it is used.
type Use struct {
	Name string
	Line int
}

type listed struct {
	ImportPath, Dir, Name     string
	Standard                  bool
	GoFiles, CgoFiles         []string
	Imports                   []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

// Load lists and parses the module in dir, with the files of build tags, comma-separated. A
// package that does not compile is loaded all the same: the law is about imports.
func Load(ctx context.Context, dir, tags string) (*Tree, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-tags="+tags,
		"-json=ImportPath,Dir,Name,Standard,GoFiles,CgoFiles,Imports,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, stderr.String())
	}
	t := &Tree{imports: map[string][]string{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("decode list: %w", err)
		}
		if err := t.add(l); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(t.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	t.findPure()
	return t, nil
}

func (t *Tree) add(l listed) error {
	if l.Standard {
		return nil // the standard library imports nothing that the law forbids in depth
	}
	for _, i := range l.Imports {
		t.imports[ours(l.ImportPath)] = append(t.imports[ours(l.ImportPath)], ours(i))
	}
	if l.ImportPath != Module && !strings.HasPrefix(l.ImportPath, Module+"/") {
		return nil
	}
	p := &Package{Path: ours(l.ImportPath), Name: l.Name, Tested: len(l.TestGoFiles)+len(l.XTestGoFiles) > 0}
	for _, i := range slices.Concat(l.TestImports, l.XTestImports) {
		p.TestImports = append(p.TestImports, ours(i))
	}
	for _, name := range slices.Concat(l.GoFiles, l.CgoFiles) {
		f, err := parse(path.Join(p.Path, name), filepath.Join(l.Dir, name))
		if err != nil {
			return fmt.Errorf("parse package %s: %w", p.Path, err)
		}
		p.Files = append(p.Files, f)
	}
	t.Packages = append(t.Packages, p)
	return nil
}

func ours(importPath string) string { return strings.TrimPrefix(importPath, Module+"/") }
