package fsm

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// lamp is a subject whose World simply is the decisions to take, by phase.
type lamp struct {
	metav1.ObjectMeta
	meta.Progress
	Bulbs map[string]*meta.Place
}

func (l *lamp) GetProgress() *meta.Progress { return &l.Progress }
func (l *lamp) DeepCopy() *lamp {
	out := &lamp{ObjectMeta: *l.ObjectMeta.DeepCopy(), Bulbs: map[string]*meta.Place{}}
	l.Progress.DeepCopyInto(&out.Progress)
	for k, p := range l.Bulbs {
		out.Bulbs[k] = p.DeepCopy()
	}
	return out
}

func (l *lamp) bulb(key string) *meta.Place {
	if l.Bulbs[key] == nil {
		l.Bulbs[key] = &meta.Place{}
	}
	return l.Bulbs[key]
}

type (
	world struct {
		says    says
		bulbs   map[string]says // by lane
		order   []string        // of the lanes
		heals   bool            // the reflex acts
		moves   bool            // the reflex moves, which it must not
		held    bool            // the hold Paused applies
		ticking bool            // the hold Closed applies, under which the clock runs
		lost    Phase           // what Lost says
	}
	says   = map[Phase]Decision
	in     = Input[*lamp, world]
	lane   = LaneInput[*lamp, world]
	effect string
	table  = Machine[*lamp, world]
)

func (e effect) String() string { return string(e) }

func echo(i in) Decision       { return i.World.says[i.Obj.Phase] }
func echoLane(i lane) Decision { return i.World.bulbs[i.Lane][i.Place.Phase] }

func paused(i in) (string, bool) { return "paused by bob", i.World.held }
func closed(i in) (string, bool) { return "", i.World.ticking }

func reflex(i in) (Decision, bool) {
	if i.World.moves {
		return Fire("Press", "Heal"), true
	}
	return Do("Heal", effect("heal")), i.World.heals
}

// machine has every feature but lanes and OneShot.
func machine() *table {
	return &table{
		Kind:   "Lamp",
		Reflex: reflex,
		Rules: Rules[in]{
			Start:  "Off",
			Guards: []Guard[in]{{On: "Deleted", To: "Gone", When: func(i in) bool { return i.Obj.DeletionTimestamp != nil }}},
			Holds: []Hold[in]{
				{Reason: "Paused", Wake: "self", When: paused},
				{Reason: "Closed", Wake: "self", In: []Phase{"Off"}, ClockRuns: true, When: closed},
			},
			Phases: map[Phase]Rule[in]{
				"Off": {Doc: "d", Class: Steady, Decide: echo, On: map[Event]Phase{"Press": "On", "Fade": "Dim"}},
				"On": {Doc: "d", Class: Working, Decide: echo, Within: time.Minute, Late: "Burn",
					On:   map[Event]Phase{"Press": "Off", "Burn": "Broken", "Blow": "Broken"},
					Fail: map[ErrorClass]Event{Refused: "Blow"}},
				"Dim": {Doc: "d", Class: Degraded, Decide: echo, On: map[Event]Phase{"Press": "Off"}, Late: "Press",
					Until: func(i in) time.Time { return i.Obj.CreationTimestamp.Time }},
				"Broken": {Doc: "d", Class: Failed},
				"Gone":   {Doc: "d", Class: Done},
			},
		},
	}
}

// chandelier is a lamp with two bulbs, which are lanes while it is On.
func chandelier() *table {
	m := machine()
	m.Lanes = &Lanes[*lamp, world]{
		In: []Phase{"On"},
		Want: func(i in) []string {
			if i.World.order != nil {
				return i.World.order
			}
			return []string{"a", "b"}
		},
		At: (*lamp).bulb,
		Rules: Rules[lane]{
			Start: "Cold",
			Holds: []Hold[lane]{{Reason: "Shy", Wake: "self", In: []Phase{"Hot"}, When: func(i lane) (string, bool) { return "", i.World.bulbs["shy"] != nil }}},
			Phases: map[Phase]Rule[lane]{
				"Cold": {Doc: "d", Class: Working, Decide: echoLane, On: map[Event]Phase{"Warm": "Hot"}},
				"Hot": {Doc: "d", Class: Working, Decide: echoLane, On: map[Event]Phase{"Cool": "Cold", "Burn": "Dead", "Blow": "Dead"},
					Within: time.Minute, Late: "Burn", Fail: map[ErrorClass]Event{Refused: "Blow"}},
				"Dead": {Doc: "d", Class: Failed},
			},
		},
	}
	return m
}

// match is a lamp that burns once.
func match() *table {
	m := machine()
	m.OneShot, m.Lost = true, func(i in) (Phase, bool) { return i.World.lost, i.World.lost != "" }
	return m
}

var now = time.Unix(1000, 300_000_000)

func at(t time.Duration) *metav1.Time { return &metav1.Time{Time: time.Unix(1000, 0).Add(t)} }

// show prints a step: hops, then the decision.
func show(s Step[*lamp]) string {
	var out []string
	for _, h := range s.Hops {
		out = append(out, h.Lane+string(h.To))
	}
	out = append(out, "|")
	if s.Lane != "" {
		out = append(out, s.Lane)
	}
	switch d := s.Decision; {
	case len(d.Do) > 0:
		out = append(out, "do "+d.Do[0].String())
	case d.Save:
		out = append(out, "save "+string(d.Reason))
	case d.Reason != "":
		out = append(out, "wait "+string(d.Reason))
	}
	return strings.Join(out, " ")
}

// pass steps and reduces; every effect comes to err.
func pass(t *testing.T, m *table, i in, err error) (Step[*lamp], Next[*lamp]) {
	t.Helper()
	s, e := m.Step(i)
	if e != nil {
		t.Fatal(e)
	}
	var outcomes []Outcome
	for _, e := range s.Decision.Do {
		outcomes = append(outcomes, Outcome{Effect: e, Err: err})
	}
	return s, m.Reduce(i, s, outcomes)
}

var errUnavailable = errors.New("dial tcp 10.0.0.7:443: request 17 timed out")
