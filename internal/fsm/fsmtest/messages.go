package fsmtest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// messagesFile is beside the transcripts: an example of what a status, the history and events say, for
// every reason. docs/reference/messages.md is made of those of all machines.
const messagesFile = "testdata/messages.md"

// said is where a reason was given.
type said struct {
	reason fsm.Reason
	phase  string
}

// messages are the first ones that were met, by reason and phase.
type messages struct {
	first  map[said]string
	events map[said]string // the type of the event that a move to the phase is
}

func newMessages() messages { return messages{map[said]string{}, map[said]string{}} }

func (m messages) note(why fsm.Reason, phase, message string) {
	if key := (said{why, phase}); why != "" && m.first[key] == "" {
		m.first[key] = message
	}
}

// has says that some message was met for a reason.
func (m messages) has(why fsm.Reason) bool {
	for s, message := range m.first {
		if s.reason == why && message != "" {
			return true
		}
	}
	return false
}

// fill takes from others what was met for reasons that have no message yet.
func (m messages) fill(others messages) {
	lacking := map[fsm.Reason]bool{}
	for s := range others.first {
		lacking[s.reason] = !m.has(s.reason)
	}
	for s, message := range others.first {
		if lacking[s.reason] {
			m.note(s.reason, s.phase, message)
			m.events[s] = others.events[s]
		}
	}
}

// listen notes what a step says: by its moves, by its decision and by the conditions after it.
func listen[T fsm.Subject[T], W any](m messages, b Bench[T, W], s fsm.Step[T], next fsm.Next[T]) {
	for _, h := range next.Hops {
		phase := string(h.To)
		if h.Lane != "" {
			phase = "lane: " + phase
		}
		m.note(h.Reason, phase, h.Message)
		m.events[said{h.Reason, phase}] = "Normal"
		if b.Machine.ClassOf(h).Warns() {
			m.events[said{h.Reason, phase}] = "Warning"
		}
	}
	phase := string(s.Obj.GetProgress().Phase)
	for _, c := range next.Obj.GetProgress().Conditions {
		if is := string(next.Obj.GetProgress().Phase); c.Reason != is { // a condition whose reason is the phase explains only itself
			m.note(fsm.Reason(c.Reason), is, c.Message)
		}
	}
	if s.Lane != "" {
		phase = "lane: " + string(b.Machine.Lanes.At(s.Obj, s.Lane).Phase)
	}
	m.note(s.Decision.Reason, phase, s.Decision.Message)
}

// sayings are what the machine says in generated worlds, which are the same in every run.
func (b Bench[T, W]) sayings() (messages, error) {
	all := newMessages()
	x := explorer[T, W]{b, map[fsm.Edge]bool{}, map[fsm.Edge]bool{}}
	return all, b.each(exploredWorlds, 0, func(in fsm.Input[T, W]) error {
		s, err := b.Machine.Step(in) // whether it is safe is for the explorer to say
		if err != nil {
			return err
		}
		listen(all, b, s, b.reduce(in, s, nil))
		for _, next := range x.failures(in, s) {
			listen(all, b, s, next)
		}
		return nil
	})
}

// checkMessages holds the file of messages against what transcripts have met, and for reasons of which
// they show no message, against generated worlds.
func checkMessages[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W], met messages) {
	t.Helper()
	if b.part() > 1 {
		return // too few worlds
	}
	others, err := b.sayings()
	if err != nil {
		t.Fatal(err)
	}
	met.fill(others)
	rewrite := flag.Lookup("rewrite")
	if err := met.check(messagesFile, rewrite != nil && rewrite.Value.String() == "true"); err != nil {
		t.Error(err)
	}
}

// check says which messages are no sentences, and whether the file lists others.
func (m messages) check(file string, rewrite bool) error {
	var errs []error
	for s, message := range m.first {
		if message != "" && !sentence.MatchString(message) {
			errs = append(errs, fmt.Errorf("%s in %s is told by no sentence: %q", s.reason, s.phase, message))
		}
	}
	want := m.String()
	if rewrite {
		errs = append(errs, os.WriteFile(file, []byte(want), 0o644)) //nolint:gosec // for people to read
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != want {
		errs = append(errs, fmt.Errorf("%s is not what the machine says: run hack/scenario, and read what changed", file), err)
	}
	return errors.Join(errs...)
}

// String is a table, and a line with the reasons that are given without a message.
func (m messages) String() string {
	var rows, wordless []string
	reasons := map[fsm.Reason]bool{}
	for s := range m.first {
		reasons[s.reason] = true
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		if !m.has(why) {
			wordless = append(wordless, "`"+string(why)+"`")
			continue
		}
		rows = append(rows, m.rows(why)...)
	}
	text := "| reason | phase | event | message |\n|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	if len(wordless) > 0 {
		text += "\nThese have no message of their own: " + strings.Join(wordless, ", ") + ".\n"
	}
	return text
}

// rows are those of a reason: phases in which it says the same share one.
func (m messages) rows(why fsm.Reason) (rows []string) {
	phases, events := map[string][]string{}, map[string][]string{} // by message
	for s, message := range m.first {
		if s.reason != why || message == "" {
			continue
		}
		phases[message] = append(phases[message], s.phase)
		if event := m.events[s]; event != "" && !slices.Contains(events[message], event) {
			events[message] = append(events[message], event)
		}
	}
	for _, message := range slices.Sorted(maps.Keys(phases)) {
		slices.Sort(phases[message])
		slices.Sort(events[message])
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", why, strings.Join(phases[message], ", "),
			strings.Join(events[message], ", "), strings.ReplaceAll(message, "|", "\\|")))
	}
	return rows
}
