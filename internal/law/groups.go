package law

import (
	"fmt"
	"slices"
	"strings"
)

// Groups of packages, by what their tests need. Every tested package is in one of
// the first seven, so that no test is left out because nobody listed it.
const (
	Quick       = "quick"       // no cluster: pure packages, and whatever depends on no client
	Servers     = "servers"     // processes of other programs, which need no cluster and mostly wait
	Alone       = "alone"       // compare the whole machine before and after, or measure how long something takes
	Integration = "integration" // everything else
	Sim         = "sim"
	E2E         = "e2e"
	Bench       = "bench"
	Machines    = "machines" // have transcripts; all are quick as well
)

// Group lists the tested packages of one group.
func (t *Tree) Group(name string) ([]string, error) {
	if !slices.Contains([]string{Quick, Servers, Alone, Integration, Sim, E2E, Bench, Machines}, name) {
		return nil, fmt.Errorf("find group %q: no such group", name)
	}
	var paths []string
	for _, p := range t.Packages {
		if p.Tested && (t.group(p) == name || name == Machines && p.machine()) {
			paths = append(paths, "./"+p.Path)
		}
	}
	return paths, nil
}

func (t *Tree) group(p *Package) string {
	for _, g := range []string{Sim, E2E, Bench} {
		if match("test/"+g+"/...", p.Path) {
			return g
		}
	}
	if match("test/bed/...", p.Path) || slices.Contains([]string{"test/integration/kube", "test/integration/caches"}, p.Path) {
		return Alone
	}
	if slices.Contains(p.TestImports, "test/servers") {
		return Servers
	}
	if strings.HasPrefix(p.Path, "test/") || !t.pure[p.Path] && t.needsCluster(p) {
		return Integration
	}
	return Quick
}

// needsCluster says that a package or its tests can reach a client or the bed.
func (t *Tree) needsCluster(p *Package) bool {
	r := Rule{Never: join(clients, []string{"test/..."})}
	for _, from := range append([]string{p.Path}, p.TestImports...) {
		if t.way(r, p, from) != nil {
			return true
		}
	}
	return false
}
