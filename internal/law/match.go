package law

import (
	"path"
	"slices"
	"strings"
)

// own stands in a But for the area of the package that imports.
const own = "internal/<own area>/..."

// matches says whether one of patterns covers the import path.
func matches(patterns []string, imported string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, imported) })
}

func match(pattern, imported string) bool {
	stem, below := strings.CutSuffix(pattern, "/...")
	depth := strings.Count(stem, "/")
	segments := strings.Split(imported, "/")
	if len(segments) <= depth || !below && len(segments) > depth+1 {
		return false
	}
	ok, err := path.Match(stem, strings.Join(segments[:depth+1], "/"))
	return ok && err == nil
}

func under(patterns ...string) func(*Tree, *Package) bool {
	return func(_ *Tree, p *Package) bool { return matches(patterns, p.Path) }
}

func not(binds func(*Tree, *Package) bool) func(*Tree, *Package) bool {
	return func(t *Tree, p *Package) bool { return !binds(t, p) }
}

func pure(t *Tree, p *Package) bool { return t.pure[p.Path] }

func inArea(_ *Tree, p *Package) bool { return area(p.Path) != "" }

// area is the folder of internal that a package belongs to, "" if it is no area's.
func area(pkg string) string {
	for _, a := range Areas {
		if match("internal/"+a+"/...", pkg) {
			return a
		}
	}
	return ""
}

func areas(below string) (patterns []string) {
	for _, a := range Areas {
		patterns = append(patterns, "internal/"+a+"/"+below)
	}
	return patterns
}

// setup says that a file wires an area: setup.go, or setup_<part>.go beside it.
func setup(file string) bool {
	ok, err := path.Match("internal/*/setup*.go", file)
	return ok && err == nil
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }
