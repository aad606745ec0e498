package fsmtest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

const worlds = 1000 // for each phase

// each asks ask about many worlds in every phase.
func (b Bench[T, W]) each(ask func(fsm.Input[T, W]) error) error {
	r := rand.New(rand.NewPCG(1, 2))
	for _, phase := range append(slices.Sorted(maps.Keys(b.Machine.Phases)), "") {
		for range worlds {
			obj, w := b.Any(r, phase)
			in := fsm.Input[T, W]{Obj: obj, World: w, Now: epoch.Add(time.Duration(r.IntN(100_000)) * time.Second)}
			obj.GetProgress().Phase = phase
			b.places(in, func(p *meta.Place, ends bool) { vary(r, p, in.Now, ends) })
			if err := ask(in); err != nil {
				return fmt.Errorf("%w\nobject %s\nworld %s", err, text(obj), text(w))
			}
		}
	}
	return nil
}

// places visits the place of the object and of each lane, and says whether it has a deadline.
func (b Bench[T, W]) places(in fsm.Input[T, W], visit func(p *meta.Place, ends bool)) {
	p := &in.Obj.GetProgress().Place
	visit(p, b.Machine.Phases[p.Phase].Late != "")
	if l := b.Machine.Lanes; l != nil && slices.Contains(l.In, p.Phase) {
		for _, key := range l.Want(in) {
			at := l.At(in.Obj, key)
			visit(at, l.Phases[at.Phase].Late != "")
		}
	}
}

// vary sets the clocks of a place: no deadline, a past one, one to come.
func vary(r *rand.Rand, p *meta.Place, now time.Time, deadline bool) {
	around := func() *metav1.Time {
		return &metav1.Time{Time: now.Add(time.Duration(r.IntN(600)-300) * time.Second).Truncate(time.Second)}
	}
	p.Since = metav1.Time{Time: now.Add(-10 * time.Minute).Truncate(time.Second)}
	if deadline {
		p.Deadline = around()
	}
	if r.IntN(4) == 0 {
		p.Failures, p.RetryAt = 1, around()
	}
}

// Explore asks for a decision in every phase about many worlds. Decisions must be
// legal, pure and never run in a circle, a wait must be ended by something, and
// every declared edge must be taken by some world.
func (b Bench[T, W]) Explore() error {
	taken, taken2 := map[fsm.Edge]bool{}, map[fsm.Edge]bool{}
	err := b.each(func(in fsm.Input[T, W]) error {
		s, err := b.pure(in)
		if err != nil {
			return err
		}
		for _, h := range s.Hops {
			note(taken, taken2, h.Lane, fsm.Edge{From: h.From, On: h.Event, To: h.To})
		}
		for _, class := range []fsm.ErrorClass{fsm.Transient, fsm.Changed, fsm.Refused} {
			if len(s.Decision.Do) > 0 {
				note(taken, taken2, s.Lane, b.failed(in, s, class))
			}
		}
		return b.ended(s)
	})
	if err != nil {
		return err
	}
	var errs []error
	missing := func(edges []fsm.Edge, taken map[fsm.Edge]bool) {
		for _, e := range edges {
			if !taken[e] {
				errs = append(errs, fmt.Errorf("no world takes %v", e))
			}
		}
	}
	missing(b.Machine.Edges(), taken)
	if b.Machine.Lanes != nil {
		missing(b.Machine.Lanes.Edges(), taken2)
	}
	return errors.Join(errs...)
}

func note(own, lanes map[fsm.Edge]bool, lane string, e fsm.Edge) {
	if lane != "" {
		own = lanes
	}
	own[e] = true
}

// pure asks twice and looks whether the input was written to.
func (b Bench[T, W]) pure(in fsm.Input[T, W]) (fsm.Step[T], error) {
	before := text(in)
	b.ask(in)
	s, err := b.step(in)
	if err != nil {
		return s, err
	}
	again, _ := b.step(in)
	if after := text(in); after != before {
		return s, fmt.Errorf("wrote to its input: %s", after)
	}
	if !equality.Semantic.DeepEqual(s.Decision, again.Decision) || text(s.Obj) != text(again.Obj) {
		return s, fmt.Errorf("decides %v, then %v", s.Decision, again.Decision)
	}
	return s, nil
}

// ask asks the rules themselves: Step shows them a copy of the object.
func (b Bench[T, W]) ask(in fsm.Input[T, W]) {
	phase := in.Obj.GetProgress().Phase
	if decide := b.Machine.Phases[phase].Decide; decide != nil {
		decide(in)
	}
	if l := b.Machine.Lanes; l != nil && slices.Contains(l.In, phase) {
		for _, key := range l.Want(in) {
			at := *l.At(in.Obj, key)
			if decide := l.Phases[at.Phase].Decide; decide != nil {
				decide(fsm.LaneInput[T, W]{Input: in, Lane: key, Place: at})
			}
		}
	}
}

// failed is the edge that an error of this class takes; there may be none.
func (b Bench[T, W]) failed(in fsm.Input[T, W], s fsm.Step[T], class fsm.ErrorClass) fsm.Edge {
	next := b.reduce(in, s, []fsm.Outcome{{Effect: s.Decision.Do[0], Err: &fsm.Error{Class: class, Err: errors.New("no")}}})
	if len(next.Hops) == len(s.Hops) {
		return fsm.Edge{}
	}
	h := next.Hops[len(next.Hops)-1]
	return fsm.Edge{From: h.From, On: h.Event, To: h.To}
}

// ended says that something ends a wait, and that no chain ran in a circle.
func (b Bench[T, W]) ended(s fsm.Step[T]) error {
	d, p := s.Decision, s.Obj.GetProgress()
	final := b.Machine.Phases[p.Phase].Decide == nil
	switch {
	case d.Reason == fsm.Circling:
		return fmt.Errorf("runs in a circle: %s", d.Message)
	case !final && !s.Moved() && d.Waits() && d.After == 0 && len(d.Wakes) == 0 && p.Deadline == nil:
		return fmt.Errorf("%s waits for nothing: %s", p.Phase, d.Reason)
	}
	return nil
}
