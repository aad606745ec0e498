package fsmtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Crash loses each save, each effect and each answer in turn.
func (b Bench[T, W]) Crash() error { return b.strike(loseSave, loseEffect, loseAnswer) }

// Amnesia loses the status before each pass in turn.
func (b Bench[T, W]) Amnesia() error { return b.strike(amnesia) }

// Stale shows each pass in turn the world of the pass before.
func (b Bench[T, W]) Stale() error { return b.strike(staleView) }

// strike runs once for each fault and each pass. The end must be that of the run
// without faults, and so must the number of effects that changed the world: what
// is repeated must be harmless. At another allowed end less may have been done.
func (b Bench[T, W]) strike(faults ...fault) error {
	clean := b.sim()
	if end, err := clean.run(); err != nil {
		return fmt.Errorf("without faults: %w", err)
	} else if end != b.End {
		return fmt.Errorf("without faults: ends %s, not %s", end, b.End)
	}
	for _, f := range faults {
		for at := 1; at <= clean.passes; at++ {
			s := b.sim()
			s.fault, s.at = f, at
			end, err := s.run()
			switch {
			case err != nil:
				return fmt.Errorf("%s in pass %d: %w", f, at, err)
			case end != b.End && !slices.Contains(b.Also, end):
				return fmt.Errorf("%s in pass %d: ends %s, not %s", f, at, end, b.End)
			case end == b.End && !maps.Equal(s.done, clean.done):
				return fmt.Errorf("%s in pass %d: did %v, not %v", f, at, s.done, clean.done)
			}
			for e, n := range s.done {
				if n > max(1, clean.done[e]) {
					return fmt.Errorf("%s in pass %d: %s was done %d times", f, at, e, n)
				}
			}
		}
	}
	return nil
}

// Late asks twice in generated worlds: a move that is taken in time is also taken
// late. A success that comes late is still a success.
func (b Bench[T, W]) Late() error {
	return b.each(func(in fsm.Input[T, W]) error {
		inTime, err := b.firstHops(in, nil)
		if err != nil {
			return err
		}
		late, err := b.firstHops(in, &metav1.Time{Time: in.Now.Add(-time.Hour).Truncate(time.Second)})
		for lane, h := range inTime {
			if err == nil && late[lane] != h {
				err = fmt.Errorf("in time %s –%s→ %s, but late –%s→ %s", h.From, h.Event, h.To, late[lane].Event, late[lane].To)
			}
		}
		return err
	})
}

// firstHops gives every place that can be late this deadline, and steps.
func (b Bench[T, W]) firstHops(in fsm.Input[T, W], deadline *metav1.Time) (map[string]fsm.Hop, error) {
	b.places(in, func(p *meta.Place, ends bool) {
		if p.Deadline = nil; ends {
			p.Deadline = deadline
		}
	})
	s, err := b.step(in)
	first := map[string]fsm.Hop{}
	for _, h := range s.Hops {
		if _, later := first[h.Lane]; !later {
			first[h.Lane] = h
		}
	}
	return first, err
}

// BackOff lets every effect fail. The write that records a failure wakes the
// object at once; it must not try again before its time.
func (b Bench[T, W]) BackOff() error {
	s := b.sim()
	tries := 0
	s.fail = func(fsm.Effect) error { tries++; return errors.New("unavailable") }
	for range 200 {
		before := tries
		again, err := s.pass()
		if err != nil {
			return err
		}
		if tries > before { // our own write wakes us
			if _, err := s.pass(); err != nil {
				return err
			}
			if tries > before+1 {
				return fmt.Errorf("tried again at once in %s", s.obj.GetProgress().Phase)
			}
		}
		if over, _ := s.over(); over || s.now.Sub(epoch) > time.Hour {
			break
		}
		if again > 0 {
			s.world = s.settle(s.obj, s.world)
			s.now = s.now.Add(min(again, time.Minute))
		}
	}
	if hours := s.now.Sub(epoch).Hours() + 1; float64(tries) > 40*hours {
		return fmt.Errorf("%d tries in %s", tries, s.now.Sub(epoch))
	}
	return nil
}

// Rest lets time pass at the end, and also where no effect ever does anything and
// nobody else either: what only waits must not write.
func (b Bench[T, W]) Rest() error {
	for _, dead := range []bool{false, true} {
		s := b.sim()
		if dead {
			s.Settle = nil
			s.Perform = func(w W, _ fsm.Effect) W { return w }
		} else if _, err := s.run(); err != nil {
			return err
		}
		if over, _ := s.over(); over && b.Machine.OneShot {
			var vanished W // what has ended for good says nothing more
			s.world = vanished
		}
		quiet, writes := false, 0
		s.trace = func(step fsm.Step[T], _ []fsm.Outcome, hops []fsm.Hop) {
			quiet = step.Decision.Waits() && len(hops) == 0
		}
		for range 100 {
			was := text(s.obj)
			s.now = s.now.Add(7 * time.Second)
			if _, err := s.pass(); err != nil {
				return err
			}
			if over, _ := s.over(); over && text(s.obj) != was && b.Machine.OneShot && !dead {
				return fmt.Errorf("writes after the end: %s", text(s.obj))
			}
			if quiet && text(s.obj) != was {
				writes++
			}
		}
		if writes > 5 { // a wait may begin, and change its reason
			return fmt.Errorf("writes at rest: %d times, last %s", writes, text(s.obj))
		}
	}
	return nil
}
