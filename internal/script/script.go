package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Line is one command of a script: its name, plain words, and words with values.
type Line struct {
	Name  string
	Words []string
	Named map[string][]string
	// Input are the lines between a command and its answer.
	Input string
	// Expected is what the script says that the answer is. A command that is meant for other systems answers it unasked.
	Expected string
}

// Word is a plain word, counted from 0; "" if it was left out.
func (l Line) Word(i int) string {
	if i < len(l.Words) {
		return l.Words[i]
	}
	return ""
}

// Value is the first value of a word; "" if there is none.
func (l Line) Value(name string) string {
	if values := l.Named[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Perform performs one command, and returns what it shows.
type Perform func(context.Context, Line) (string, error)

// What any script may come to.
var (
	ErrUnknown = errors.New("no such command, or too few words")
	// ErrStill is of what was awaited in vain.
	ErrStill = errors.New("it does not come to that")
	// ErrAfterAll is of what must not happen, and did.
	ErrAfterAll = errors.New("it came to that")
)

// Run runs every script in a folder, each on a system of its own. An error is shown by its kind, see Kind.
func Run(t *testing.T, dir string, begin func(t *testing.T) Perform, kinds ...error) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		perform := begin(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			shown, err := perform(t.Context(), lineOf(d))
			if err != nil {
				return "error: " + Kind(err, kinds...) + "\n"
			}
			return shown
		})
	})
}

// lineOf tells plain words from those with values.
func lineOf(d *datadriven.TestData) Line {
	l := Line{Name: d.Cmd, Named: map[string][]string{}, Input: d.Input, Expected: d.Expected}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			l.Words = append(l.Words, a.Key)
		} else {
			l.Named[a.Key] = a.Vals
		}
	}
	return l
}

// Kind is the first of these errors that err is: the text of an error is the system's own, and differs.
func Kind(err error, kinds ...error) string {
	for _, k := range append(kinds, ErrStill, ErrAfterAll, ErrUnknown) {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return err.Error()
}

// Lines is a list, one to a line.
func Lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintln(strings.Join(list, "\n"))
}
