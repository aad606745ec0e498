package fsmtest

import (
	"maps"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Deciding is the bench with one phase decided otherwise: a fault planted on purpose.
func (b Bench[T, W]) Deciding(phase fsm.Phase, decide func(fsm.Input[T, W]) fsm.Decision) Bench[T, W] {
	m := *b.Machine
	m.Phases = maps.Clone(m.Phases)
	rule := m.Phases[phase]
	rule.Decide = decide
	m.Phases[phase] = rule
	b.Machine = &m
	return b
}

// Caught fails unless a check has found what was planted, and said so.
func Caught(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %.300v, want %q", err, want)
	}
}
