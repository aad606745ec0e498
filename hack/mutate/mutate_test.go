package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := parse("# about it\ntests ./a\ntests ./b/... -skip TestB\n\none is one\na.go\n-\tif x {\n-\t}\n+\tif y {\n+\t}\n\n" +
		"# gone\nb.go is used\nb.go\ntests ./c -run TestC\npaid for 2 7\n-\tuse()\n")
	want := table{mutants: []mutant{
		{claim: "one is one", file: "a.go", from: "\tif x {\n\t}", to: "\tif y {\n\t}", tests: []test{{packages: "./a"}, {packages: "./b/...", skip: "TestB"}}},
		{claim: "b.go is used", file: "b.go", from: "\tuse()", tests: []test{{packages: "./c", run: "TestC"}}, paidFor: []string{"2", "7"}},
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(table{}, mutant{}, test{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got.keep("b.go")
	if len(got.mutants) != 1 {
		t.Error(got.mutants)
	}
	for text, want := range map[string]string{
		"tests ./a":                           "no tests, or no mutants",
		"one\na.go\n-x\n+y":                   "no tests, or no mutants",
		"tests ./a\n\none\na.go":              "a claim, a file and a difference",
		"tests ./a\n\none\na.go\n-x\n+x":      "changes nothing",
		"tests ./a\n\none\na.go\n+x\n+y":      "changes nothing",
		"tests ./a\n\none\na.go\n-x\n+y\nand": "neither goes nor comes",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func TestApply(t *testing.T) {
	m := mutant{file: "a.go", from: "\tx()", to: "\ty()"}
	if got, err := m.apply("{\n\tx()\n\tx() // so\n}\n"); err != nil || got != "{\n\ty()\n\tx() // so\n}\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"{\n\tx()\n\n\tx()\n}\n", "{\n\tz()\n}\n"} {
		if _, err := m.apply(source); err == nil {
			t.Errorf("applies to %q", source)
		}
	}
}

func TestJudge(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL": "TestA TestA/b",
		"panic: test timed out after 1m0s":                             "a time-out",
		"panic: runtime error":                                         "a panic",
		"go: cannot find GOROOT":                                       "alive",
	} {
		by, alive := judge(output)
		got := strings.Join(by, " ")
		if alive != nil {
			got = "alive"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", output, got, want)
		}
	}
}

// The tables in git apply: the long run is not needed to see that one does not.
func TestTablesApply(t *testing.T) {
	paths, _ := filepath.Glob("*.txt")
	if len(paths) == 0 {
		t.Fatal("no tables")
	}
	for _, path := range paths {
		table, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		applies(t, table)
	}
}

func applies(t *testing.T, table table) {
	t.Helper()
	for _, m := range table.mutants {
		source, err := os.ReadFile("../../" + m.file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.apply(string(source)); err != nil {
			t.Errorf("%s: %v", m.claim, err)
		}
	}
}

// Without a budget all mutants are tried, as they are written; with one, an order that the seed repeats, until it is spent.
func TestSample(t *testing.T) {
	all := newSample(0, 1)
	if got := all.order(4); all.over() || !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Error(got)
	}
	one, same, other := newSample(time.Hour, 7), newSample(time.Hour, 7), newSample(time.Hour, 8)
	if order := one.order(50); one.over() || !slices.Equal(order, same.order(50)) || slices.Equal(order, other.order(50)) {
		t.Error(order)
	}
	one.began = one.began.Add(-2 * time.Hour)
	if !one.over() {
		t.Error("it goes on after its budget is spent")
	}
	if got := one.coverage(3, 4); got != "75 % of 4: seed 7" {
		t.Error(got)
	}
}
