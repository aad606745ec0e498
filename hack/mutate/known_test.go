package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// known is one row of the table of bugs that others paid for.
type known struct {
	mutants []string // their claims
	tests   [][]string
}

var (
	knownRow    = regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$`)
	knownMutant = regexp.MustCompile("`hack/mutants -v -run '([^']+)'`")
	knownTest   = regexp.MustCompile("`go test (\\S+) -run (\\w+)`")
)

func knownBugs(t *testing.T) map[string]known {
	t.Helper()
	page, err := os.ReadFile("../../docs/contributing/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Bugs that others paid for\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]known{}
	for _, row := range knownRow.FindAllStringSubmatch(section, -1) {
		k := known{tests: knownTest.FindAllStringSubmatch(row[2], -1)}
		for _, m := range knownMutant.FindAllStringSubmatch(row[2], -1) {
			k.mutants = append(k.mutants, m[1])
		}
		slices.Sort(k.mutants)
		all[row[1]] = k
	}
	return all
}

// paidFor are the mutants of all tables that bring back a known bug, by its number.
func paidFor(t *testing.T) map[string][]string {
	t.Helper()
	paths, _ := filepath.Glob("*.txt")
	all := map[string][]string{}
	for _, path := range paths {
		table, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range table.mutants {
			for _, number := range m.paidFor {
				all[number] = append(all[number], m.claim)
			}
		}
	}
	return all
}

// mostKnown is how many bugs are known: none of them is dropped from the table by accident.
const mostKnown = 58

// The table of known bugs and the mutants say the same, and what is shown by a test instead
// is shown by one that exists.
func TestKnownBugsAreShown(t *testing.T) {
	bugs, marked := knownBugs(t), paidFor(t)
	for i := 1; i <= max(mostKnown, len(bugs)); i++ {
		number := strconv.Itoa(i)
		k, told := bugs[number]
		if !told || len(k.mutants)+len(k.tests) == 0 {
			t.Errorf("bug %s is not told, or not shown", number)
		}
		slices.Sort(marked[number])
		if diff := cmp.Diff(k.mutants, marked[number]); diff != "" {
			t.Errorf("bug %s (-told +marked):\n%s", number, diff)
		}
		for _, named := range k.tests {
			if !exists(t, named[1], named[2]) {
				t.Errorf("bug %s: there is no test %s in %s", number, named[2], named[1])
			}
		}
	}
	for number := range maps.Keys(marked) {
		if _, told := bugs[number]; !told {
			t.Errorf("%v: there is no bug %s", marked[number], number)
		}
	}
}

// exists says that a package has a test of this name.
func exists(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)")
	})
}

// A claim is how a mutant is found.
func TestClaimsAreOfOneMutant(t *testing.T) {
	seen := map[string]string{}
	paths, _ := filepath.Glob("*.txt")
	for _, path := range paths {
		table, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range table.mutants {
			if other, twice := seen[m.claim]; twice {
				t.Errorf("%q is in %s and in %s", m.claim, other, path)
			}
			seen[m.claim] = path
		}
	}
}
