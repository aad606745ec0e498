package law

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Check applies every rule and returns a sentence per breach: who, what, which rule.
func (t *Tree) Check() (breaches []string) {
	for _, r := range Rules {
		for _, p := range t.Packages {
			if r.Binds(t, p) {
				breaches = append(breaches, t.apply(r, p)...)
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

func (t *Tree) apply(r Rule, p *Package) (breaches []string) {
	complain := func(format string, args ...any) {
		breaches = append(breaches, fmt.Sprintf(format, args...)+fmt.Sprintf(" (rule %q: %s)", r.Name, r.Why))
	}
	if slices.Contains(r.Names, path.Base(p.Path)) || slices.Contains(r.Names, p.Name) {
		complain("%s: a package is named %s", p.Path, p.Name)
	}
	for _, f := range p.Files {
		if r.Except != nil && r.Except(f.Name) {
			continue
		}
		for _, i := range f.Imports {
			if r.Deep {
				if way := t.way(r, p, i.Name); len(way) > 1 {
					complain("%s:%d: imports %s", f.Name, i.Line, strings.Join(way, ", which imports "))
				}
			} else if r.forbids(p, i.Name) {
				complain("%s:%d: imports %s", f.Name, i.Line, i.Name)
			}
		}
		for _, c := range f.Calls {
			if slices.Contains(r.Calls, c.Name) {
				complain("%s:%d: calls %s", f.Name, c.Line, c.Name)
			}
		}
	}
	return breaches
}

func (r Rule) forbids(p *Package, imported string) bool {
	for _, but := range r.But {
		if but == own {
			but = "internal/" + area(p.Path) + "/..."
		}
		if match(but, imported) {
			return false
		}
	}
	return matches(r.Never, imported)
}

// way is the shortest chain of imports from one on to something forbidden, both
// included; nil if there is none.
func (t *Tree) way(r Rule, p *Package, from string) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if r.forbids(p, queue[0]) {
			var way []string
			for at := queue[0]; at != ""; at = came[at] {
				way = append([]string{at}, way...)
			}
			return way
		}
		for _, next := range t.imports[queue[0]] {
			if _, seen := came[next]; !seen {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}
