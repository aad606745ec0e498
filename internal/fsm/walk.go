package fsm

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// The kernel's own events and reasons.
const (
	Created  Event  = "Created"    // the object was seen for the first time
	Reset    Event  = "Reset"      // the reset annotation sent the object back to its start
	Lost     Event  = "StatusLost" // the status of a one-shot was lost after its work had begun
	Circling Reason = "Circling"   // a phase was entered twice over one World: a fault of the machine

	// Awaited, as a LateReason, stands for the reason of the wait that was in vain.
	Awaited Reason = "Awaited"
)

// Hop is one move taken in a pass, of the object or of the lane named.
type Hop struct {
	Lane string
	meta.Transition
}

// walker moves one place over one World.
type walker[I any] struct {
	rules *Rules[I]
	place *meta.Place
	lane  string
	now   time.Time
	input func() I // reads the place again, so rules see every hop
	outer holding  // for a lane: the hold on the object closes all its working phases
	hops  []Hop
	last  Decision // what the last hop said: the last word of a final phase

	progress *meta.Progress // of the object, whose history knows every hop at once; nil for a lane
	circled  bool
}

// walk follows the rules until they act, save, wait or end. Moves chain; effects
// are left to the next pass, which finds the phase and its deadline saved.
func (w *walker[I]) walk() (Decision, error) {
	seen := []Phase{w.place.Phase}
	for _, h := range w.hops {
		seen = append(seen, h.From, h.To)
	}
	for {
		d, err := w.decide()
		if err != nil || d.On == "" {
			return w.patient(d), err
		}
		to := w.rules.Phases[w.place.Phase].On[d.On]
		if slices.Contains(seen, to) {
			w.circled = true
			return Wait(Circling).In(later).Because("The machine came back to a phase within one pass (%s –%s→ %s), which is a bug: report it.", w.place.Phase, d.On, to), nil
		}
		w.enter(to, d)
		seen = append(seen, to)
	}
}

// enter moves the place and stamps its deadline.
func (w *walker[I]) enter(to Phase, d Decision) {
	hop := meta.Transition{From: w.place.Phase, To: to, Event: d.On, Reason: d.Reason, Message: Cut(d.Message), At: stamp(w.now)}
	w.hops = append(w.hops, Hop{w.lane, hop})
	if w.progress != nil {
		remember(w.progress, hop)
	}
	w.last = Decision{Reason: d.Reason, Message: d.Message}
	*w.place = meta.Place{Phase: to, Since: stamp(w.now)}
	switch rule := w.rules.Phases[to]; {
	case rule.Within > 0:
		w.place.Deadline = stampUp(w.now.Add(rule.Within))
	case rule.Until != nil:
		if at := rule.Until(w.input()); !at.IsZero() {
			w.place.Deadline = stampUp(at)
		}
	}
}

// fire is a move of the kernel's own: the event is also the reason.
func fire(on Event) Decision { return Fire(on, Reason(on)) }

// guard fires the first guard that applies.
func (w *walker[I]) guard() {
	for _, g := range w.rules.Guards {
		if w.rules.guards(g, w.place.Phase) && g.When(w.input()) {
			d := fire(g.On)
			if g.Say != nil {
				d = d.Because("%s", g.Say(w.input()))
			}
			w.enter(g.To, d)
			return
		}
	}
}

// decide asks the rule, then the holds, then the clock: a move is taken even when
// late, but not one into a phase that a hold closes.
func (w *walker[I]) decide() (Decision, error) {
	phase := w.place.Phase
	rule := w.rules.Phases[phase]
	if rule.final() {
		return w.last, nil
	}
	d, in := rule.Decide(w.input()), w.input()
	if err := d.check(); err != nil {
		return d, fmt.Errorf("%s %w", phase, err)
	}
	if _, declared := rule.On[d.On]; d.On != "" && !declared {
		return d, fmt.Errorf("%s has no way out by %s", phase, d.On)
	}
	hold := w.inTheWay(d, in)
	w.keepTime(hold)
	if (d.On == "" || hold.is) && rule.Late != "" && late(w.place, w.now) {
		if hold.is {
			d = hold.wait
		}
		d = w.giveUp(rule, d)
		hold = w.inTheWay(d, in)
	}
	if hold.is && !d.Save {
		return hold.wait, nil
	}
	return d, nil
}

// patient puts effects and saves off until the phase is saved, and effects until
// the back-off is over.
func (w *walker[I]) patient(d Decision) Decision {
	backingOff := len(d.Do) > 0 && w.place.RetryAt != nil && !due(w.place.RetryAt, w.now)
	if d.Waits() || len(w.hops) == 0 && !backingOff {
		return d
	}
	wait := Wait(d.Reason, retry).Because("%s", d.Message)
	wait.BackOff = backingOff
	return wait
}

// giveUp takes the Late edge, and says what was awaited in vain: the words of the
// failure while an effect backs off, else those of the wait.
func (w *walker[I]) giveUp(rule Rule[I], awaited Decision) Decision {
	var v Verdict
	if awaited.InVain != nil {
		v = *awaited.InVain
	}
	what := cmp.Or(v.Message, awaited.Message, string(awaited.Reason))
	if w.progress != nil && w.place.RetryAt != nil {
		what = cmp.Or(w.progress.WaitingFor, what)
	}
	reason := rule.LateReason
	if reason == Awaited {
		reason = awaited.Reason
	}
	return Fire(rule.Late, cmp.Or(v.Reason, reason, Reason(rule.Late))).Because("%s: %s", rule.notDone(), what)
}

// fail lets an effect's error fire its edge, or else backs off.
func (w *walker[I]) fail(o Outcome, uid string) []Hop {
	rule := w.rules.Phases[w.place.Phase]
	if on, fires := rule.Fail[ClassOf(o.Err)]; fires {
		w.enter(rule.On[on], Fire(on, cmp.Or(ReasonOf(o.Err), Reason(on))).Because("%s", o.Message()))
	} else {
		backOff(w.place, uid, w.now)
	}
	return w.hops
}
