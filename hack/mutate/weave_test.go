package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const woven = `package p

const limit = 3

// grow is plain.
func grow(n int, more ...int) (sum int) {
	sum = n // so far
	for _, m := range more {
		sum += m
	}
	return min(sum, limit)
}

type list[V any] []V

func (l *list[V]) add(v V) { *l = append(*l, v) }

func first[V any](l []V, _ int) V { return l[0] }

func same[V comparable](a, b V) bool { return a == b }
`

// What changes the inside of a function is woven in, whatever its signature; the rest, and
// what cannot be handed on, is left to be built alone.
func TestWeave(t *testing.T) {
	mutants := map[string]mutant{
		"plain":     {from: "\tsum = n // so far", to: "\tsum = 0"},
		"again":     {from: "\treturn min(sum, limit)", to: "\treturn sum"},
		"method":    {from: "func (l *list[V]) add(v V) { *l = append(*l, v) }", to: "func (l *list[V]) add(v V) {}"},
		"generic":   {from: "func same[V comparable](a, b V) bool { return a == b }", to: "func same[V comparable](a, b V) bool { return true }"},
		"constant":  {from: "const limit = 3", to: "const limit = 4"},
		"nameless":  {from: "func first[V any](l []V, _ int) V { return l[0] }", to: "func first[V any](l []V, _ int) V { return l[1] }"},
		"signature": {from: "func grow(n int, more ...int) (sum int) {", to: "func grow(n int, more ...int) (sum uint) {"},
		"no Go":     {from: "\t\tsum += m", to: "\t\tsum +="},
	}
	text, pkg, left := weave(woven, mutants)
	if got := strings.Join(left, ", "); got != "constant, nameless, no Go, signature" || pkg != "p" {
		t.Errorf("package %q, left are %s", pkg, got)
	}
	for _, want := range []string{"return grow_mutant_plain(n, more...)", "return grow_mutant_again(n, more...)", "l.add_mutant_method(v)\n\t\treturn",
		"return same_mutant_generic[V](a, b)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text, pkg, left := weave("no Go", mutants); text != "no Go" || pkg != "" || len(left) != len(mutants) {
		t.Errorf("%q of %q, left are %v", text, pkg, left)
	}
}

// A mutant that is caught, one that lives, and one each that has to be built alone.
func TestHunt(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n\ngo 1.24\n",
		"p.go":   woven,
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestGrow(t *testing.T) {\n\tif grow(1, 1) != 2 || grow(9) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n\n" +
			"func TestRest(t *testing.T) { _ = first([]int{1}, 0); _ = same(1, 1); (&list[int]{}).add(1) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	all := []test{{packages: "."}}
	tried := table{mutants: []mutant{
		{claim: "caught", file: "p.go", from: "\tsum = n // so far", to: "\tsum = 0", tests: all},
		{claim: "alive", file: "p.go", from: "func same[V comparable](a, b V) bool { return a == b }", to: "func same[V comparable](a, b V) bool { return true }", tests: all},
		{claim: "not asked", file: "p.go", from: "\t\tsum += m", to: "\t\tsum -= m", tests: []test{{packages: ".", run: "TestRest"}}},
		{claim: "caught alone", file: "p.go", from: "const limit = 3", to: "const limit = 4", tests: all},
		{claim: "does not build", file: "p.go", from: "const limit = 3", to: "const limit = x", tests: all},
		{claim: "does not build in a function", file: "p.go", from: "\treturn min(sum, limit)", to: "\treturn min(sum, limits)", tests: all},
		{claim: "no longer applies", file: "p.go", from: "const limit = 2", to: "", tests: all},
	}}
	ctx := context.Background()
	if err := tried.expand(ctx); err != nil {
		t.Fatal(err)
	}
	d, err := tried.settle(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := tried.baseline(ctx, d); err != nil {
		t.Fatal(err)
	}
	for f := range tried.hunt(ctx, d, newSample(0, 1), 2) {
		caught := strings.HasPrefix(f.claim, "caught")
		if (f.alive == nil) != caught || caught && strings.Join(f.by, " ") != "TestGrow" {
			t.Errorf("%s: by %v, alive %v", f.claim, f.by, f.alive)
		}
	}
	spent := newSample(time.Hour, 1)
	spent.began = spent.began.Add(-2 * time.Hour)
	for f := range tried.hunt(ctx, d, spent, 2) {
		t.Errorf("%s is tried although the budget is spent", f.claim)
	}
}
