package fsm

import (
	"fmt"
	"slices"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Lanes are the same rules over a list in the status: the shards of an upgrade,
// the steps of a remediation. Every lane may move in a pass; the first that
// wants to act, acts.
type Lanes[T, W any] struct {
	Rules[LaneInput[T, W]]
	In   []Phase                              // the object's phases in which lanes run
	Want func(Input[T, W]) []string           // which lanes there are, in the order in which they may act
	At   func(obj T, lane string) *meta.Place // where a lane is stored; makes room for a new one
}

// LaneInput is all that the decision of one lane may look at.
type LaneInput[T, W any] struct {
	Input[T, W]
	Lane  string
	Place meta.Place
}

// stepLanes moves every lane and takes the decision of the first that acts, or
// else of the first that has not ended. A hold on the object holds its lanes.
func (m *Machine[T, W]) stepLanes(s *Step[T], w *walker[Input[T, W]]) error {
	outer := m.held(w.place.Phase, w.input(), holding{})
	for _, lane := range m.lanes(w.place.Phase, w.input()) {
		lw := m.laneWalker(s.Obj, w.input(), lane)
		lw.outer = outer
		if lw.place.Phase == "" {
			lw.enter(m.Lanes.Start, fire(Created))
		} else if _, known := m.Lanes.Phases[lw.place.Phase]; !known {
			return fmt.Errorf("lane %s: unknown phase %q", lane, lw.place.Phase)
		}
		lw.guard()
		d, err := lw.walk()
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
		s.Hops = append(s.Hops, lw.hops...)
		s.Circled = s.Circled || lw.circled
		if m.Lanes.Phases[lw.place.Phase].final() {
			continue
		}
		if s.Lane == "" || d.urgency() > s.Decision.urgency() {
			s.Decision, s.Lane = d, lane
		}
		m.timer(s, d)
	}
	return nil
}

// lanes are the lanes that run in this phase of the object.
func (m *Machine[T, W]) lanes(phase Phase, in Input[T, W]) []string {
	if m.Lanes == nil || !slices.Contains(m.Lanes.In, phase) {
		return nil
	}
	return m.Lanes.Want(in)
}

// forgetLanes sends every lane of an object that is reset back to its start: what
// made the object stick may be one of them.
func (m *Machine[T, W]) forgetLanes(in Input[T, W]) {
	if m.Lanes == nil {
		return
	}
	for _, lane := range m.Lanes.Want(in) {
		*m.Lanes.At(in.Obj, lane) = meta.Place{}
	}
}

// walker and laneWalker move places of obj, which is a copy, over the World of in.
func (m *Machine[T, W]) walker(obj T, in Input[T, W]) *walker[Input[T, W]] {
	in.Obj = obj
	p := obj.GetProgress()
	return &walker[Input[T, W]]{
		rules: &m.Rules, place: &p.Place, progress: p, now: in.Now,
		input: func() Input[T, W] { return in },
	}
}

func (m *Machine[T, W]) laneWalker(obj T, in Input[T, W], lane string) *walker[LaneInput[T, W]] {
	in.Obj = obj
	place := m.Lanes.At(obj, lane)
	return &walker[LaneInput[T, W]]{
		rules: &m.Lanes.Rules, place: place, now: in.Now, lane: lane,
		input: func() LaneInput[T, W] { return LaneInput[T, W]{Input: in, Lane: lane, Place: *place} },
	}
}
