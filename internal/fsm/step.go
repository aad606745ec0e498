package fsm

import (
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
	after    time.Duration // the earliest timer of all lanes
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
	switch _, known := m.Phases[w.place.Phase]; {
	case w.place.Phase == "":
		m.begin(w)
	case !known:
		return s, fmt.Errorf("%s: unknown phase %q", m.Kind, w.place.Phase)
	case !m.OneShot && resetWanted(in.Obj.GetAnnotations()[ResetAnnotation], w.place, in.Now):
		w.enter(m.Start, fire(Reset))
	default:
		w.guard()
	}
	err := m.decide(&s, w)
	if err != nil {
		err = fmt.Errorf("%s: %w", m.Kind, err)
	}
	s.Hops = append(s.Hops, w.hops...)
	return s, err
}

// begin gives a place to an object that has none: it is new, or its status was lost.
func (m *Machine[T, W]) begin(w *walker[Input[T, W]]) {
	if m.Lost != nil {
		if to, began := m.Lost(w.input()); began {
			w.enter(to, fire(Lost))
			return
		}
	}
	w.enter(m.Start, fire(Created))
}

// decide asks the reflex, then the lanes, then the rule. A lane's decision stands
// while the object itself has nothing to do but wait.
func (m *Machine[T, W]) decide(s *Step[T], w *walker[Input[T, W]]) error {
	if m.Reflex != nil && !m.Phases[w.place.Phase].final() {
		if d, acts := m.Reflex(w.input()); acts {
			s.Decision = w.patient(d)
			return d.check()
		}
	}
	if err := m.stepLanes(s, w); err != nil {
		return err
	}
	d, err := w.walk()
	if s.Lane == "" || len(w.hops) > 0 || !d.Waits() {
		s.Decision, s.Lane = d, ""
	}
	return err
}

// resetWanted says that the wish is later than the phase, and not from the future:
// that one would be granted in every pass.
func resetWanted(wish string, p *meta.Place, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, wish)
	return err == nil && at.After(p.Since.Time) && !at.After(now)
}
