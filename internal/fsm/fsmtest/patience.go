package fsmtest

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Late asks twice in generated worlds: a move that is taken in time is also taken
// late. A success that comes late is still a success.
func (b Bench[T, W]) Late() error {
	return b.each(lateWorlds, 0, func(in fsm.Input[T, W]) error {
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
		if p.Deadline, p.HeldSince = nil, nil; ends {
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

// BackOff lets every effect fail, from each pass on that is the first to act in its
// phase for its reason. The write that records a failure wakes the object at once; it
// must not try again before its time, and must not show the raw error, which is
// another one in every try.
func (b Bench[T, W]) BackOff() error {
	clean, err := b.clean()
	if err != nil {
		return err
	}
	tried := map[string]bool{}
	for i, pass := range clean.log {
		if pass.effects == 0 || tried[pass.where] {
			continue
		}
		if tried[pass.where] = true; len(tried)%b.part() != 0 {
			continue
		}
		if err := pass.before.fork().keepsFailing(); err != nil {
			return fmt.Errorf("all effects fail from pass %d on: %w", i+1, err)
		}
	}
	return nil
}

func (s *sim[T, W]) keepsFailing() error {
	tries, from := 0, s.now
	s.fail = func(fsm.Effect) error { tries++; return fmt.Errorf("raw error %d", tries) }
	for range 200 {
		before := tries
		again, err := s.pass()
		if err == nil && tries > before { // our own write wakes us
			_, err = s.pass()
		}
		switch _, over := s.over(); {
		case err != nil:
			return err
		case tries > before+1:
			return fmt.Errorf("tried again at once in %s", s.obj.GetProgress().Phase)
		case strings.Contains(text(s.obj), "raw error"):
			return fmt.Errorf("shows a raw error: %s", text(s.obj))
		case over || s.now.Sub(from) > 20*time.Minute:
			return nil
		}
		s.advance(min(again, time.Minute))
	}
	if hours := s.now.Sub(from).Hours() + 1; float64(tries) > 40*hours {
		return fmt.Errorf("%d tries in %s", tries, s.now.Sub(from))
	}
	return nil
}

// Rest stops the world before each pass in turn: no effect does anything any more
// and nobody else does either. What only waits must neither write nor spin. A
// one-shot that has ended says nothing more, even when its World vanishes.
func (b Bench[T, W]) Rest() error {
	clean, err := b.clean()
	if err != nil {
		return err
	}
	for i := 0; i < len(clean.log); i += b.part() * (1 + len(clean.log)/25) {
		if err := clean.log[i].before.fork().rests(); err != nil {
			return fmt.Errorf("the world stops before pass %d: %w", i+1, err)
		}
	}
	if err := clean.fork().rests(); err != nil {
		return fmt.Errorf("the world stops after the end: %w", err)
	}
	if b.Machine.OneShot {
		return clean.fork().silent()
	}
	return nil
}

func (s *sim[T, W]) rests() error {
	writes := 0
	s.Settle, s.Perform = nil, func(w W, _ fsm.Effect) W { return w }
	waits := false
	s.trace = func(step fsm.Step[T], _ []fsm.Outcome, next fsm.Next[T]) {
		waits = step.Decision.Waits() && len(next.Hops) == 0
	}
	for range 40 {
		s.now = s.now.Add(7 * time.Second)
		again, err := s.pass()
		switch {
		case err != nil:
			return err
		case s.quiet && again <= 0:
			return fmt.Errorf("spins in %s", s.obj.GetProgress().Phase)
		case waits && !s.quiet:
			writes++
		}
	}
	if writes > 5 { // a wait may begin, and change its reason
		return fmt.Errorf("writes at rest: %d times, last %s", writes, text(s.obj))
	}
	return nil
}

// silent lets the World of a one-shot that has ended vanish.
func (s *sim[T, W]) silent() error {
	var vanished W
	s.world = vanished
	was := text(s.obj)
	if _, err := s.pass(); err != nil {
		return err
	}
	if is := text(s.obj); is != was {
		return fmt.Errorf("writes after the end: %s", is)
	}
	return nil
}
