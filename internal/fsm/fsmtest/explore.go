package fsmtest

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// legalReason is what the API server takes as the reason of a condition, and fits
// into the history.
var legalReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]{0,126}[A-Za-z0-9_])?$`)

// explorer notes which declared moves some world has taken.
type explorer[T fsm.Subject[T], W any] struct {
	Bench[T, W]
	own, lanes map[fsm.Edge]bool
}

// Explore asks for a decision in every phase about many worlds. Decisions must be
// legal and never run in a circle, a wait must be ended by something, and every
// declared edge must be taken by some world.
func (b Bench[T, W]) Explore() error {
	x := explorer[T, W]{b, map[fsm.Edge]bool{}, map[fsm.Edge]bool{}}
	for round, known := 0, -1; ; round++ {
		if err := b.each(exploredWorlds, round, x.ask); err != nil {
			return err
		}
		if b.part() > 1 {
			return nil // too few to say that an edge is never taken
		}
		taken := len(x.own) + len(x.lanes)
		if missing := x.missing(); missing == nil || taken == known {
			return missing
		}
		known = taken
	}
}

// ExploreIn asks about one phase only, and not whether every edge is taken: enough to
// show a fault that was planted there.
func (b Bench[T, W]) ExploreIn(phase fsm.Phase) error {
	x := explorer[T, W]{b, map[fsm.Edge]bool{}, map[fsm.Edge]bool{}}
	for round := range explored * b.part() {
		if err := b.eachIn([]fsm.Phase{phase}, exploredWorlds, round, x.ask); err != nil {
			return err
		}
	}
	return nil
}

func (x explorer[T, W]) ask(in fsm.Input[T, W]) error {
	s, err := x.step(in)
	if err != nil {
		return err
	}
	for _, h := range s.Hops {
		x.note(h)
	}
	for _, next := range x.failures(in, s) {
		for _, h := range next.Hops[len(s.Hops):] {
			x.note(h)
		}
	}
	return x.sound(in, s)
}

// failures are what becomes of a step whose first effect fails, by each class of error.
func (x explorer[T, W]) failures(in fsm.Input[T, W], s fsm.Step[T]) (all []fsm.Next[T]) {
	if len(s.Decision.Do) == 0 {
		return nil
	}
	for _, class := range fsm.ErrorClasses {
		failed := fsm.Outcome{Effect: s.Decision.Do[0], Err: &fsm.Error{Class: class, Err: errors.New("no")}}
		all = append(all, x.reduce(in, s, []fsm.Outcome{failed}))
	}
	return all
}

func (x explorer[T, W]) note(h fsm.Hop) {
	taken := x.own
	if h.Lane != "" {
		taken = x.lanes
	}
	taken[fsm.Edge{From: h.From, On: h.Event, To: h.To}] = true
}

// sound says that something ends a wait, that no chain ran in a circle, and that
// what is said can be saved, and read.
func (x explorer[T, W]) sound(in fsm.Input[T, W], s fsm.Step[T]) error {
	d, p := s.Decision, s.Obj.GetProgress()
	final := x.Machine.Phases[p.Phase].Decide == nil
	if name, unknown := x.Machine.UnknownWake(s.Wakes); unknown {
		return fmt.Errorf("%s waits for %q, which is not in the table of wakes", p.Phase, name)
	}
	switch {
	case s.Circled:
		return fmt.Errorf("runs in a circle: %v, then %s", s.Hops, d.Message)
	case !final && !s.Moved() && d.Waits() && d.After == 0 && len(d.Wakes) == 0 && p.Deadline == nil:
		return fmt.Errorf("%s waits for nothing: %s", p.Phase, d.Reason)
	case d.Reason != "" && !legalReason.MatchString(string(d.Reason)):
		return fmt.Errorf("%s gives a reason that the API server refuses: %q", p.Phase, d.Reason)
	}
	if err := x.speaks(in, s); err != nil {
		return err
	}
	return x.apart(in)
}

// apart checks that every lane has a name of its own.
func (x explorer[T, W]) apart(in fsm.Input[T, W]) error {
	names := map[string]bool{"": true}
	for _, lane := range x.Bench.lanes(in) {
		if names[lane] {
			return fmt.Errorf("two lanes of one name, or one without: %q", lane)
		}
		names[lane] = true
	}
	return nil
}

func (x explorer[T, W]) missing() error {
	var errs []error
	look := func(edges []fsm.Edge, taken map[fsm.Edge]bool) {
		for _, e := range edges {
			if !taken[e] {
				errs = append(errs, fmt.Errorf("no world takes %v: remove it, or let Any make such a world", e))
			}
		}
	}
	look(x.Machine.Edges(), x.own)
	if x.Machine.Lanes != nil {
		look(x.Machine.Lanes.Edges(), x.lanes)
	}
	return errors.Join(errs...)
}

// Blind shows an empty World in every phase. Nothing seen is not success.
func (b Bench[T, W]) Blind() error {
	var nothing W
	return b.each(blindWorlds, 0, func(in fsm.Input[T, W]) error {
		in.World = nothing
		s, err := b.step(in)
		for _, h := range s.Hops {
			if err == nil && h.Lane == "" && b.Machine.Phases[h.To].Class == fsm.Done {
				err = fmt.Errorf("sees nothing, and takes it for success: %s –%s→ %s", h.From, h.Event, h.To)
			}
		}
		return err
	})
}

// Rollback shows a phase of a newer version, of the object and of each lane. An
// older controller must refuse it: a guess could destroy something.
func (b Bench[T, W]) Rollback() error {
	const newer = fsm.Phase("OfANewerVersion")
	return b.each(blindWorlds, 0, func(in fsm.Input[T, W]) error {
		for _, lane := range b.lanes(in) {
			one := in
			one.Obj = in.Obj.DeepCopy()
			b.Machine.Lanes.At(one.Obj, lane).Phase = newer
			if s, err := b.step(one); err == nil && b.Machine.Lanes.At(s.Obj, lane).Phase != newer {
				return fmt.Errorf("guesses what lane %s does in the unknown phase %s", lane, newer)
			}
		}
		in.Obj = in.Obj.DeepCopy()
		in.Obj.GetProgress().Phase = newer
		if _, err := b.step(in); err == nil {
			return fmt.Errorf("guesses what to do in the unknown phase %s", newer)
		}
		return nil
	})
}
