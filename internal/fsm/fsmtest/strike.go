package fsmtest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// fault is one thing that goes wrong in one pass.
type fault struct {
	kind trouble
	at   int // the pass in which it strikes; 0 is none
	nth  int // which of that pass's effects it strikes
}

type trouble string

const (
	crash      trouble = "crash"       // after nth effects, and before the save
	loseEffect trouble = "lost effect" // it was answered and did not happen
	loseAnswer trouble = "lost answer" // it happened and was not answered
	amnesia    trouble = "amnesia"     // the status is gone before the pass
	staleView  trouble = "stale view"  // the pass sees the world of the pass before
	staleSelf  trouble = "stale self"  // the pass sees the object before its last save, and cannot save
)

func (f fault) String() string {
	switch f.kind {
	case crash:
		return fmt.Sprintf("crash in pass %d after %d effects", f.at, f.nth)
	case loseEffect, loseAnswer:
		return fmt.Sprintf("%s in pass %d, number %d", f.kind, f.at, f.nth+1)
	}
	return fmt.Sprintf("%s in pass %d", f.kind, f.at)
}

func (s *sim[T, W]) strikes(kind trouble) bool { return s.fault.kind == kind && s.passes == s.fault.at }

// Crash crashes before the first effect of each pass, between effects and before
// the save, and loses each effect and each answer in turn.
func (b Bench[T, W]) Crash() error {
	return b.strike(func(at, effects int) (faults []fault) {
		for nth := range effects + 1 {
			faults = append(faults, fault{crash, at, nth})
		}
		for nth := range effects {
			faults = append(faults, fault{loseEffect, at, nth}, fault{loseAnswer, at, nth})
		}
		return faults
	})
}

// Amnesia loses the status before each pass in turn, and after the end.
func (b Bench[T, W]) Amnesia() error {
	return b.strike(func(at, _ int) []fault { return []fault{{kind: amnesia, at: at}} })
}

// Stale shows each pass in turn the world, and then the object itself, of the pass before.
func (b Bench[T, W]) Stale() error {
	return b.strike(func(at, _ int) []fault { return []fault{{kind: staleView, at: at}, {kind: staleSelf, at: at}} })
}

// strike runs once for each fault and each pass. The end must be that of the run
// without faults, and so must the number of effects that changed the world: what
// is repeated must be harmless. At another allowed end less may have been done.
func (b Bench[T, W]) strike(faults func(at, effects int) []fault) error {
	clean, err := b.clean()
	switch {
	case err != nil:
		return err
	case clean.end != b.End:
		return fmt.Errorf("without faults: ends %s, not %s", clean.end, b.End)
	}
	var before *entry[T, W]
	n := 0
	for i, pass := range clean.log {
		if before != nil && before.quiet && pass.quiet {
			continue // it only waits on, as in the pass before
		}
		before = pass
		for _, f := range faults(i+1, pass.effects) {
			if n++; n%b.part() != 0 {
				continue
			}
			if err := pass.before.fork().struck(f, clean.done); err != nil {
				return err
			}
		}
	}
	ended := clean.fork()
	ended.advance(fsm.Never)
	for _, f := range faults(clean.passes+1, 0) { // and once after the end
		if err := ended.fork().struck(f, clean.done); err != nil {
			return err
		}
	}
	return nil
}

// clean is the run without faults. It is not to be written to: drills of one path share it.
func (b Bench[T, W]) clean() (*sim[T, W], error) {
	if b.shared != nil {
		return b.shared()
	}
	s := b.sim()
	var err error
	if s.end, err = s.run(); err != nil {
		err = fmt.Errorf("without faults: %w", err)
	}
	return s, err
}

// struck runs to the end under a fault, and compares it with the run without.
func (s *sim[T, W]) struck(f fault, clean map[string]int) error {
	s.fault = f
	if end, _ := s.over(); end == gone {
		return nil // nothing is left to strike
	}
	if err := s.same(clean); err != nil {
		return fmt.Errorf("%s: %w", f, err)
	}
	return nil
}

// same says whether the end, and the number of effects that changed the world, are
// those of the run without faults.
func (s *sim[T, W]) same(clean map[string]int) error {
	end, err := s.run()
	switch {
	case err != nil:
		return err
	case end != s.End && !slices.Contains(s.Also, end):
		return fmt.Errorf("ends %s, not %s", end, s.End)
	case end == s.End && !maps.Equal(s.done, clean):
		return fmt.Errorf("did %v, not %v", s.done, clean)
	}
	for e, n := range s.done {
		if n > max(1, clean[e]) {
			return fmt.Errorf("%s was done %d times", e, n)
		}
	}
	return nil
}
