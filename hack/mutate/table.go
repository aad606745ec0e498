package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// mutant is one way to break the code, and the claim that it breaks.
type mutant struct {
	claim string
	file  string
	from  string
	to    string
	// tests must catch it, in the order in which they are tried.
	tests []test
	// paidFor are the numbers of the known bugs that it brings back.
	paidFor []string
}

// test is some tests of one package, or of several.
type test struct {
	packages  string
	run, skip string // as go test takes them; "" is all, and none
}

func (t test) String() string {
	switch {
	case t.run != "":
		return t.packages + " -run " + t.run
	case t.skip != "":
		return t.packages + " -skip " + t.skip
	}
	return t.packages
}

// table is one file of mutants. Its first lines say which tests must catch them,
// in the order in which they are tried:
//
//	tests ./internal/fsm -skip TestLong
//	tests ./internal/fsm/fsmtest/... -run TestPlanted
//
// and each mutant is a claim, a file and a small difference:
//
//	a deadline is rounded up: never late before it is due
//	internal/fsm/place.go
//	-	s := stamp(t.Add(time.Second - time.Nanosecond))
//	+	s := stamp(t)
//
// A mutant may name tests of its own, in place of those of the table, and the known bugs
// that it brings back, by the numbers of docs/contributing/testing.md: "paid for 2 7".
// Lines that begin with # are comments; an empty line ends a mutant.
type table struct {
	path    string
	mutants []mutant
}

func read(path string) (table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return table{}, fmt.Errorf("read mutants: %w", err)
	}
	t, err := parse(string(text))
	if err != nil {
		return t, fmt.Errorf("read %s: %w", path, err)
	}
	t.path = path
	return t, nil
}

// keep leaves only the mutants whose claim contains these words.
func (t *table) keep(words string) {
	t.mutants = slices.DeleteFunc(t.mutants, func(m mutant) bool { return !strings.Contains(m.claim, words) })
}

func parse(text string) (table, error) {
	var (
		t   table
		all []test
	)
	for _, block := range strings.Split(text, "\n\n") {
		m, lines := headOf(block)
		if len(lines) == 0 {
			all = append(all, m.tests...)
			continue
		}
		if err := m.parse(lines); err != nil {
			return t, err
		}
		if len(m.tests) == 0 {
			m.tests = all
		}
		t.mutants = append(t.mutants, m)
	}
	if len(t.mutants) == 0 || slices.ContainsFunc(t.mutants, func(m mutant) bool { return len(m.tests) == 0 }) {
		return t, errors.New("no tests, or no mutants")
	}
	return t, nil
}

// headOf is what a block says beside the mutant, and the lines that are left for that.
func headOf(block string) (m mutant, lines []string) {
	for _, line := range strings.Split(block, "\n") {
		words := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "tests "):
			m.tests = append(m.tests, parseTest(words[1:]))
		case strings.HasPrefix(line, "paid for "):
			m.paidFor = words[2:]
		default:
			lines = append(lines, line)
		}
	}
	return m, lines
}

// parseTest reads packages, and after them which of their tests.
func parseTest(words []string) test {
	switch {
	case len(words) == 3 && words[1] == "-run":
		return test{packages: words[0], run: words[2]}
	case len(words) == 3 && words[1] == "-skip":
		return test{packages: words[0], skip: words[2]}
	}
	return test{packages: strings.Join(words, " ")}
}

func (m *mutant) parse(lines []string) error {
	if len(lines) < 3 {
		return fmt.Errorf("%q: a mutant is a claim, a file and a difference", lines[0])
	}
	m.claim, m.file = lines[0], lines[1]
	var from, to []string
	for _, line := range lines[2:] {
		switch line[0] {
		case '-':
			from = append(from, line[1:])
		case '+':
			to = append(to, line[1:])
		default:
			return fmt.Errorf("%q: %q neither goes nor comes", m.claim, line)
		}
	}
	m.from, m.to = strings.Join(from, "\n"), strings.Join(to, "\n")
	if m.from == "" || m.from == m.to {
		return fmt.Errorf("%q: changes nothing", m.claim)
	}
	return nil
}

// apply is the text of the file with the mutant in it. It must apply in one place,
// at the start of a line.
func (m mutant) apply(source string) (string, error) {
	from, to := "\n"+m.from+"\n", "\n"+m.to+"\n"
	if n := strings.Count(source, from); n != 1 {
		return "", fmt.Errorf("applies in %d places of %s", n, m.file)
	}
	return strings.Replace(source, from, to, 1), nil
}
