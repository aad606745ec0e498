package fsm

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

const remembered = 16 // moves in History

// Pass is what one pass decided and did, for the kind's own status.
type Pass struct {
	Decision Decision
	Outcomes []Outcome
	Hops     []Hop // of the object and its lanes
}

// Next is what a pass comes to.
type Next[T any] struct {
	Obj   T             // to be saved, if it differs
	Hops  []Hop         // all moves, for events and metrics once it is saved
	Again time.Duration // when to look again; 0 is at once
}

// Reduce folds a step and the outcomes of its effects into the object to save.
// What did not change is not touched, so at rest there is nothing to save.
func (m *Machine[T, W]) Reduce(in Input[T, W], s Step[T], outcomes []Outcome) Next[T] {
	next := s.Obj.DeepCopy()
	// A one-shot that has ended says nothing more, whatever becomes of its World.
	if len(s.Hops) == 0 && m.OneShot && m.Phases[next.GetProgress().Phase].final() {
		return Next[T]{Obj: next, Again: Never}
	}
	d, hops := m.conclude(in, next, s, outcomes)
	s.Hops = slices.Concat(s.Hops, hops)
	p, at := next.GetProgress(), m.at(next, s.Lane)
	backingOff := len(outcomes) == 0 && at.RetryAt != nil && !due(at.RetryAt, in.Now)
	if m.Report != nil {
		m.Report(next, in, Pass{s.Decision, outcomes, s.Hops})
	}
	if !backingOff { // while it backs off, the words of the failure stand
		m.describe(in, next, d)
	}
	changed := !reflect.DeepEqual(in.Obj, next) && !equality.Semantic.DeepEqual(in.Obj, next) // the first is much cheaper
	if changed {
		p.MachineHash = m.Hash()
	}
	return Next[T]{Obj: next, Hops: s.Hops, Again: m.again(in, next, s, changed)}
}

// conclude draws the consequences of what the effects came to, and says what there
// is to say now: a failure may fire an edge.
func (m *Machine[T, W]) conclude(in Input[T, W], next T, s Step[T], outcomes []Outcome) (Decision, []Hop) {
	d, at := s.Decision, m.at(next, s.Lane)
	o, failed := failure(outcomes)
	if !failed {
		// A failure is over when the effects succeed, or when it is time to try them
		// again and nothing is left to do: the answer may have been all that was lost.
		if len(outcomes) > 0 || d.Waits() && !d.Held && due(at.RetryAt, in.Now) {
			at.Failures, at.RetryAt = 0, nil
		}
		return d, nil
	}
	hops := m.fail(in, next, s.Lane, o)
	d.Reason = cmp.Or(ReasonOf(o.Err), d.Reason)
	if s.Lane == "" && len(hops) > 0 {
		d = Decision{Reason: hops[0].Reason}
	}
	d.Message = o.Message()
	return d, hops
}

// remember keeps the object's last moves.
func remember(p *meta.Progress, hop meta.Transition) {
	p.History = append(p.History, hop)
	p.History = p.History[max(0, len(p.History)-remembered):]
}

func (m *Machine[T, W]) fail(in Input[T, W], next T, lane string, o Outcome) []Hop {
	if lane != "" {
		return m.laneWalker(next, in, lane).fail(o, string(next.GetUID()))
	}
	return m.walker(next, in).fail(o, string(next.GetUID()))
}

func (m *Machine[T, W]) at(obj T, lane string) *meta.Place {
	if lane != "" {
		return m.Lanes.At(obj, lane)
	}
	return &obj.GetProgress().Place
}

// again is when the next pass is due: at once after a move or a save, soon after
// effects, and never later than the earliest alarm of the object and its lanes.
func (m *Machine[T, W]) again(in Input[T, W], next T, s Step[T], changed bool) time.Duration {
	p, d, wake := next.GetProgress(), s.Decision, s.after
	switch {
	case m.Phases[p.Phase].final():
		return Never
	case s.Circled: // would spin, so its timer decides
	case len(s.Hops) > 0, d.Save && changed:
		return 0
	case d.Save: // it changed nothing, and would spin
		wake = min(wake, later)
	case len(d.Do) > 0 && m.at(next, s.Lane).RetryAt != nil: // they failed: the back-off decides
	case len(d.Do) > 0 && d.After == 0:
		wake = min(wake, soon)
	}
	if m.Lanes != nil { // asking for a lane makes room for it, which is not to be saved
		next = next.DeepCopy()
	}
	in.Obj = next
	for _, lane := range append(m.lanes(p.Phase, in), "") {
		wake = alarm(m.at(next, lane), in.Now, wake)
	}
	return wake
}
