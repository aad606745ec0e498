package fsmtest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// watcher looks, through JSON, whether a function of the machine writes to what it is given.
type watcher struct {
	wrote error
	// closely: each function is watched for writes to the World, too. That takes long and
	// only serves to name the one that did: Step as a whole shows that one did.
	closely bool
}

func (w *watcher) look(who string, in any, call func()) {
	before := text(in)
	call()
	if after := text(in); after != before && w.wrote == nil {
		w.wrote = fmt.Errorf("%s wrote to its input: %s, then %s", who, before, after)
	}
}

// Pure asks every function of the machine about generated worlds: none may write
// to its object or its World, and the same question has the same answer.
func (b Bench[T, W]) Pure() error {
	if err := b.pure(&watcher{}); err == nil {
		return nil
	}
	return b.pure(&watcher{closely: true})
}

func (b Bench[T, W]) pure(seen *watcher) error {
	m := watched(b.Machine, seen)
	return b.each(pureWorlds, 0, func(in fsm.Input[T, W]) error {
		var s fsm.Step[T]
		var err error
		seen.look("Step", in, func() { s, err = m.Step(in) })
		if err != nil {
			return err
		}
		var done, failed []fsm.Outcome
		for _, e := range s.Decision.Do {
			done, failed = append(done, fsm.Outcome{Effect: e}), []fsm.Outcome{{Effect: e, Err: errors.New("no")}}
		}
		seen.look("Reduce", []any{in, s}, func() { m.Reduce(in, s, done); m.Reduce(in, s, failed) })
		if seen.wrote != nil {
			return seen.wrote
		}
		again, err := b.Machine.Step(in)
		if err == nil && (!reflect.DeepEqual(s.Decision, again.Decision) || text(s.Obj) != text(again.Obj)) {
			err = fmt.Errorf("decides %v, then %v", s.Decision, again.Decision)
		}
		return err
	})
}

// watched is a copy of the machine, every function of which is watched.
func watched[T fsm.Subject[T], W any](m *fsm.Machine[T, W], w *watcher) *fsm.Machine[T, W] {
	out := *m
	given := func(in fsm.Input[T, W]) any {
		if w.closely {
			return in
		}
		return in.Obj
	}
	out.Rules = watchedRules(m.Rules, w, given)
	if m.Lanes != nil {
		lanes := *m.Lanes
		lanes.Rules = watchedRules(m.Lanes.Rules, w, func(in fsm.LaneInput[T, W]) any { return given(in.Input) })
		lanes.Want = watchedCall("Want", m.Lanes.Want, w, given)
		out.Lanes = &lanes
	}
	if m.Reflex != nil {
		out.Reflex = watchedPair("Reflex", m.Reflex, w, given)
	}
	if m.Lost != nil {
		out.Lost = watchedPair("Lost", m.Lost, w, given)
	}
	if m.Conditions != nil {
		out.Conditions = func(in fsm.Input[T, W], d fsm.Decision) (c []metav1.Condition) {
			w.look("Conditions", given(in), func() { c = m.Conditions(in, d) })
			return c
		}
	}
	if m.Report != nil {
		out.Report = func(obj T, in fsm.Input[T, W], p fsm.Pass) {
			w.look("Report", given(in), func() { m.Report(obj, in, p) })
		}
	}
	return &out
}

func watchedRules[I any](r fsm.Rules[I], w *watcher, given func(I) any) fsm.Rules[I] {
	guards, holds := make([]fsm.Guard[I], len(r.Guards)), make([]fsm.Hold[I], len(r.Holds))
	for i, g := range r.Guards {
		guards[i] = g
		guards[i].When = watchedCall("guard "+string(g.On), g.When, w, given)
	}
	for i, h := range r.Holds {
		holds[i] = h
		holds[i].When = watchedPair("hold "+string(h.Reason), h.When, w, given)
	}
	r.Guards, r.Holds, r.Phases = guards, holds, maps.Clone(r.Phases)
	for phase, rule := range r.Phases {
		if rule.Decide != nil {
			rule.Decide = watchedCall("Decide of "+string(phase), rule.Decide, w, given)
		}
		if rule.Until != nil {
			rule.Until = watchedCall[I, time.Time]("Until of "+string(phase), rule.Until, w, given)
		}
		r.Phases[phase] = rule
	}
	return r
}

func watchedCall[I, A any](who string, f func(I) A, w *watcher, given func(I) any) func(I) A {
	return func(in I) (a A) {
		w.look(who, given(in), func() { a = f(in) })
		return a
	}
}

func watchedPair[I, A, B any](who string, f func(I) (A, B), w *watcher, given func(I) any) func(I) (A, B) {
	return func(in I) (a A, b B) {
		w.look(who, given(in), func() { a, b = f(in) })
		return a, b
	}
}

// Model looks at the model itself along a run without faults. If Perform or Settle
// wrote to what they are given, no drill could see a change; and an effect that
// does more when performed twice is not one that may be repeated after a crash.
func (b Bench[T, W]) Model() error {
	s, seen, calls := b.sim(), &watcher{}, 0
	perform, settle := b.Perform, b.settle
	skipped := func() bool { calls++; return calls%b.part() != 0 }
	s.Perform = func(w W, e fsm.Effect) (after W) {
		if skipped() {
			return perform(w, e)
		}
		seen.look("Perform", w, func() { after = perform(w, e) })
		if twice := perform(after, e); text(twice) != text(after) && seen.wrote == nil {
			seen.wrote = fmt.Errorf("%s does more when performed twice: %s, then %s", e, text(after), text(twice))
		}
		return after
	}
	s.Settle = func(obj T, w W) (after W) {
		if skipped() {
			return settle(obj, w)
		}
		seen.look("Settle", []any{obj, w}, func() { after = settle(obj, w) })
		return after
	}
	if _, err := s.run(); err != nil {
		return err
	}
	return seen.wrote
}
