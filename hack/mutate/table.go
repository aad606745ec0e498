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
}

// table is one file of mutants. Its first lines say which tests must catch them,
// in the order in which they are tried:
//
//	tests ./internal/fsm
//	tests ./internal/fsm/fsmtest/...
//
// and each mutant is a claim, a file and a small difference:
//
//	a deadline is rounded up: never late before it is due
//	internal/fsm/place.go
//	-	s := stamp(t.Add(time.Second - time.Nanosecond))
//	+	s := stamp(t)
//
// Lines that begin with # are comments; an empty line ends a mutant.
type table struct {
	tests   []string
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
	return t, nil
}

// keep leaves only the mutants whose claim contains these words.
func (t *table) keep(words string) {
	t.mutants = slices.DeleteFunc(t.mutants, func(m mutant) bool { return !strings.Contains(m.claim, words) })
}

func parse(text string) (table, error) {
	var t table
	for _, block := range strings.Split(text, "\n\n") {
		var lines []string
		for _, line := range strings.Split(block, "\n") {
			if tests, is := strings.CutPrefix(line, "tests "); is {
				t.tests = append(t.tests, tests)
			} else if line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		m, err := parseMutant(lines)
		if err != nil {
			return t, err
		}
		t.mutants = append(t.mutants, m)
	}
	if len(t.tests) == 0 || len(t.mutants) == 0 {
		return t, errors.New("no tests, or no mutants")
	}
	return t, nil
}

func parseMutant(lines []string) (mutant, error) {
	if len(lines) < 3 {
		return mutant{}, fmt.Errorf("%q: a mutant is a claim, a file and a difference", lines[0])
	}
	m := mutant{claim: lines[0], file: lines[1]}
	var from, to []string
	for _, line := range lines[2:] {
		switch line[0] {
		case '-':
			from = append(from, line[1:])
		case '+':
			to = append(to, line[1:])
		default:
			return m, fmt.Errorf("%q: %q neither goes nor comes", m.claim, line)
		}
	}
	m.from, m.to = strings.Join(from, "\n"), strings.Join(to, "\n")
	if m.from == "" || m.from == m.to {
		return m, fmt.Errorf("%q: changes nothing", m.claim)
	}
	return m, nil
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
