package law

import (
	"path"
	"slices"
)

// findPure starts from what is pure by its place and follows the imports.
func (t *Tree) findPure() {
	t.pure = map[string]bool{}
	var follow func(pkg string)
	follow = func(pkg string) {
		if t.pure[pkg] || !slices.ContainsFunc(t.Packages, func(p *Package) bool { return p.Path == pkg }) {
			return
		}
		t.pure[pkg] = true
		for _, i := range t.imports[pkg] {
			follow(i)
		}
	}
	for _, p := range t.Packages {
		builders := path.Base(p.Path) == "spec" && inArea(t, p)
		// The examples that the test kit is tried on carry their own test benches.
		machine := p.machine() && !match("internal/fsm/fsmtest/...", p.Path)
		if shared(t, p) || builders || machine {
			follow(p.Path)
		}
	}
}

// shared says that a package is directly below internal, and so for every area: the kernel, and
// what areas decide with. Only those that stand for what is outside are not pure.
func shared(t *Tree, p *Package) bool {
	return match("internal/*", p.Path) && !inArea(t, p) && !matches(Outside, p.Path)
}

// machine says that a package declares phases.
func (p *Package) machine() bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return path.Base(f.Name) == "phases.go" })
}
