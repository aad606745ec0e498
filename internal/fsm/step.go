package fsm

import (
	"errors"
	"fmt"
	"math"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ResetAnnotation sends an object back to Start, once: its value is the time of the wish.
const ResetAnnotation = "statecraft.dev/reset-phase"

// Never means that only a wake leads to another pass.
const Never = time.Duration(math.MaxInt64)

// Step is what a pass decided: the moves it took, and then effects, a save or a wait.
type Step[T any] struct {
	Obj      T // the object, moved
	Hops     []Hop
	Decision Decision
	Lane     string        // whose decision it is; "" is the object's own
	Wakes    []string      // all that the object and its lanes wait for
	Circled  bool          // a chain ran in a circle and was stopped: a fault of the machine, to be counted
	after    time.Duration // the earliest timer of the object and its lanes
}

// Moved says that the object or a lane changed its phase.
func (s Step[T]) Moved() bool { return len(s.Hops) > 0 }

// Step decides. It refuses an unknown phase (a newer version wrote it: guessing
// could destroy something) and an illegal decision.
//
// The order is guards, reflex, lanes, the phase's own rule; holds bind the last two.
func (m *Machine[T, W]) Step(in Input[T, W]) (Step[T], error) {
	s := Step[T]{Obj: in.Obj.DeepCopy(), after: Never}
	w := m.walker(s.Obj, in)
	err := m.locate(w)
	switch {
	case err != nil:
	case m.OneShot && m.Phases[w.place.Phase].final(): // ended for good: not even a guard moves it
		s.Decision = w.last
	default:
		w.guard()
		err = m.decide(&s, w)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", m.Kind, err)
	}
	s.Hops = append(s.Hops, w.hops...)
	return s, err
}

// locate finds where the object stands when the pass begins.
func (m *Machine[T, W]) locate(w *walker[Input[T, W]]) error {
	phase := w.place.Phase
	if phase == "" {
		return m.begin(w)
	}
	if _, known := m.Phases[phase]; !known {
		return fmt.Errorf("unknown phase %q", phase)
	}
	in := w.input()
	if !m.OneShot && resetWanted(in.Obj.GetAnnotations()[ResetAnnotation], w.place, w.now) {
		m.forgetLanes(in)
		w.enter(m.Start, fire(Reset).Because("The annotation %s asked for it.", ResetAnnotation))
	}
	if seen := w.progress.ObservedGeneration; seen > 0 && in.Obj.GetGeneration() > seen {
		w.place.Failures, w.place.RetryAt = 0, nil // a user who edited the spec does not wait for what failed before
	}
	return nil
}

// begin gives a place to an object that has none: it is new, or its status was lost.
func (m *Machine[T, W]) begin(w *walker[Input[T, W]]) error {
	to, d := m.Start, fire(Created)
	if m.Lost != nil {
		if phase, began := m.Lost(w.input()); began {
			to, d = phase, fire(Lost).Because("%s", m.LostMessage)
		}
	}
	if _, known := m.Phases[to]; !known {
		return fmt.Errorf("begins in the unknown phase %q", to)
	}
	w.enter(to, d)
	return nil
}

// decide asks the reflex, then the lanes, then the rule. A lane's decision stands
// while the object itself has nothing more urgent to do than to wait.
func (m *Machine[T, W]) decide(s *Step[T], w *walker[Input[T, W]]) error {
	if m.Reflex != nil && !m.Phases[w.place.Phase].final() {
		if d, acts := m.Reflex(w.input()); acts {
			w.keepTime(m.held(w.place.Phase, w.input(), holding{}))
			s.Decision = w.patient(d)
			m.timer(s, d)
			if err := checkReflex(d); err != nil || !s.Decision.BackOff {
				return err
			}
			return m.moveOn(s, w)
		}
	}
	if err := m.stepLanes(s, w); err != nil {
		return err
	}
	d, err := w.walk()
	m.timer(s, d)
	s.Circled = s.Circled || w.circled
	if s.Lane == "" || len(w.hops) > 0 || !d.Waits() || d.urgency() > s.Decision.urgency() {
		s.Decision, s.Lane = d, ""
	}
	return err
}

// moveOn takes the moves of the rule while the reflex backs off: a phase that is over, or too late, is left all the
// same. Nothing is done, because what the reflex wants comes first.
func (m *Machine[T, W]) moveOn(s *Step[T], w *walker[Input[T, W]]) error {
	d, err := w.walk()
	s.Circled = s.Circled || w.circled
	if len(w.hops) > 0 {
		s.Decision = d
		m.timer(s, d)
	}
	return err
}

func checkReflex(d Decision) error {
	err := d.check()
	if d.On != "" {
		err = errors.New("moves, which only a rule may")
	}
	if err != nil {
		return fmt.Errorf("reflex %w", err)
	}
	return nil
}

// resetWanted says that the wish is later than the phase, and not from the future:
// that one would be granted in every pass. Since is in whole seconds, so the wish
// is too, or its fraction would be granted again and again.
func resetWanted(wish string, p *meta.Place, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, wish)
	return err == nil && at.Truncate(time.Second).After(p.Since.Time) && !at.After(now)
}
