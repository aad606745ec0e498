package fsm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// lamp is a subject whose World simply is the decisions to take, by phase.
type lamp struct {
	metav1.ObjectMeta
	meta.Progress
	bulbs map[string]*meta.Place
}

func (l *lamp) GetProgress() *meta.Progress { return &l.Progress }
func (l *lamp) DeepCopy() *lamp {
	out := &lamp{ObjectMeta: *l.ObjectMeta.DeepCopy(), bulbs: map[string]*meta.Place{}}
	l.Progress.DeepCopyInto(&out.Progress)
	for k, p := range l.bulbs {
		out.bulbs[k] = new(meta.Place)
		p.DeepCopyInto(out.bulbs[k])
	}
	return out
}

type (
	world struct {
		says    map[Phase]Decision
		heals   bool
		held    bool
		ticking bool
	}
	in     = Input[*lamp, world]
	rule   = Rule[in]
	effect string
)

func (e effect) String() string { return string(e) }

func echo(i in) Decision { return i.World.says[i.Obj.Phase] }

func machine() *Machine[*lamp, world] {
	return &Machine[*lamp, world]{
		Kind:   "Lamp",
		Reflex: func(i in) (Decision, bool) { return Do("Heal", effect("heal")), i.World.heals },
		Rules: Rules[in]{
			Start:  "Off",
			Guards: []Guard[in]{{On: "Deleted", To: "Gone", When: func(i in) bool { return i.Obj.DeletionTimestamp != nil }}},
			Holds: []Hold[in]{{Reason: "Paused", Wake: "self", When: func(i in) (string, bool) { return "paused by bob", i.World.held }},
				{Reason: "Closed", Wake: "self", In: []Phase{"Off"}, ClockRuns: true, When: func(i in) (string, bool) { return "", i.World.ticking }}},
			Phases: map[Phase]rule{
				"Off":    {Doc: "d", Class: Steady, Decide: echo, On: map[Event]Phase{"Press": "On"}},
				"On":     {Doc: "d", Class: Working, Decide: echo, On: map[Event]Phase{"Press": "Off", "Burn": "Broken", "Blow": "Broken"}, Within: time.Minute, Late: "Burn", Fail: map[ErrorClass]Event{Refused: "Blow"}},
				"Broken": {Doc: "d", Class: Failed},
				"Gone":   {Doc: "d", Class: Done},
			},
		},
	}
}

var now = time.Unix(1000, 300_000_000)

func at(t time.Duration) *metav1.Time { return &metav1.Time{Time: time.Unix(1000, 0).Add(t)} }

func TestStep(t *testing.T) {
	wait, press, act := Wait("R", "w"), Fire("Press", "R"), Do("R", effect("e"))
	for name, tc := range map[string]struct {
		place  meta.Place
		world  world
		del    bool
		reset  string
		want   string // hops, then the decision
		broken string
	}{
		"a new object starts":                         {world: world{says: map[Phase]Decision{"Off": wait}}, want: "Off | wait R"},
		"an unknown phase is refused":                 {place: meta.Place{Phase: "Blinking"}, broken: "unknown phase"},
		"an undeclared event is refused":              {place: meta.Place{Phase: "Off"}, world: world{says: map[Phase]Decision{"Off": Fire("Kick", "R")}}, broken: "no way out"},
		"a reason is required":                        {place: meta.Place{Phase: "Off"}, world: world{says: map[Phase]Decision{"Off": {}}}, broken: "without a reason"},
		"a decision is one thing":                     {place: meta.Place{Phase: "Off"}, world: world{says: map[Phase]Decision{"Off": {On: "Press", Save: true, Reason: "R"}}}, broken: "two things"},
		"moves chain, effects wait for the save":      {place: meta.Place{Phase: "Off"}, world: world{says: map[Phase]Decision{"Off": press, "On": act}}, want: "On | wait R"},
		"effects run in a saved phase":                {place: meta.Place{Phase: "On"}, world: world{says: map[Phase]Decision{"On": act}}, want: "| do e"},
		"a circle is stopped":                         {place: meta.Place{Phase: "Off"}, world: world{says: map[Phase]Decision{"Off": press, "On": press}}, want: "On | wait Circling"},
		"a guard comes first":                         {place: meta.Place{Phase: "On"}, del: true, world: world{heals: true}, want: "Gone | wait Deleted"},
		"a guard leaves final phases alone":           {place: meta.Place{Phase: "Broken"}, del: true, want: "|"},
		"late beats effects":                          {place: meta.Place{Phase: "On", Deadline: at(0)}, world: world{says: map[Phase]Decision{"On": act}}, want: "Broken | wait Burn"},
		"a move beats late":                           {place: meta.Place{Phase: "On", Deadline: at(0)}, world: world{says: map[Phase]Decision{"On": press, "Off": wait}}, want: "Off | wait R"},
		"a reflex beats late":                         {place: meta.Place{Phase: "On", Deadline: at(0)}, world: world{heals: true}, want: "| do heal"},
		"a reflex heals under a hold":                 {place: meta.Place{Phase: "On"}, world: world{heals: true, held: true}, want: "| do heal"},
		"a hold stops effects":                        {place: meta.Place{Phase: "On"}, world: world{held: true, says: map[Phase]Decision{"On": act}}, want: "| wait Paused"},
		"a hold lets saves pass":                      {place: meta.Place{Phase: "On"}, world: world{held: true, says: map[Phase]Decision{"On": Save("R")}}, want: "| save R"},
		"a hold under which the clock runs ends late": {place: meta.Place{Phase: "On", Deadline: at(0)}, world: world{ticking: true, says: map[Phase]Decision{"On": press}}, want: "Broken | wait Burn"},
		"and not before":                              {place: meta.Place{Phase: "On", Deadline: at(time.Minute)}, world: world{ticking: true, says: map[Phase]Decision{"On": press}}, want: "| wait Closed"},
		"a hold closes the door":                      {place: meta.Place{Phase: "Off"}, world: world{held: true, says: map[Phase]Decision{"Off": press}}, want: "| wait Paused"},
		"a hold lets verdicts pass":                   {place: meta.Place{Phase: "On"}, world: world{held: true, says: map[Phase]Decision{"On": Fire("Burn", "R")}}, want: "Broken | wait R"},
		"a hold stops the clock":                      {place: meta.Place{Phase: "On", Deadline: at(0)}, world: world{held: true, says: map[Phase]Decision{"On": wait}}, want: "| wait Paused"},
		"a release moves the deadline":                {place: meta.Place{Phase: "On", Deadline: at(-time.Hour), HeldSince: at(-2 * time.Hour)}, world: world{says: map[Phase]Decision{"On": wait}}, want: "| wait R"},
		"a back-off puts effects off":                 {place: meta.Place{Phase: "On", RetryAt: at(time.Second)}, world: world{says: map[Phase]Decision{"On": act}}, want: "| wait R"},
		"a back-off does not stop moves":              {place: meta.Place{Phase: "On", RetryAt: at(time.Hour)}, world: world{says: map[Phase]Decision{"On": press, "Off": wait}}, want: "Off | wait R"},
		"a reset starts over":                         {place: meta.Place{Phase: "On", Since: *at(-time.Hour)}, reset: "1970-01-01T00:16:00Z", world: world{says: map[Phase]Decision{"Off": wait}}, want: "Off | wait R"},
		"a reset is granted once":                     {place: meta.Place{Phase: "On", Since: *at(0)}, reset: "1970-01-01T00:16:00Z", world: world{says: map[Phase]Decision{"On": wait}}, want: "| wait R"},
		"a reset from the future is not":              {place: meta.Place{Phase: "On", Since: *at(-time.Hour)}, reset: "2970-01-01T00:16:00Z", world: world{says: map[Phase]Decision{"On": wait}}, want: "| wait R"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &lamp{Progress: meta.Progress{Place: tc.place}}
			obj.Annotations = map[string]string{ResetAnnotation: tc.reset}
			if tc.del {
				obj.DeletionTimestamp = at(0)
			}
			s, err := machine().Step(in{Obj: obj, World: tc.world, Now: now})
			if tc.broken != "" {
				if err == nil || !strings.Contains(err.Error(), tc.broken) {
					t.Fatalf("error %v, want %q", err, tc.broken)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, show(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func show(s Step[*lamp]) string {
	var out []string
	for _, h := range s.Hops {
		out = append(out, string(h.To))
	}
	out = append(out, "|")
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

func TestReduce(t *testing.T) {
	m := machine()
	i := in{Obj: &lamp{ObjectMeta: metav1.ObjectMeta{UID: "x", Generation: 3}, Progress: meta.Progress{Place: meta.Place{Phase: "On", Deadline: at(time.Minute)}}},
		World: world{says: map[Phase]Decision{"On": Do("R", effect("e"))}}, Now: now}
	pass := func(err error) Next[*lamp] {
		s, e := m.Step(i)
		if e != nil {
			t.Fatal(e)
		}
		var o []Outcome
		for _, e := range s.Decision.Do {
			o = append(o, Outcome{Effect: e, Err: err})
		}
		n := m.Reduce(i, s, o)
		i.Obj = n.Obj
		return n
	}
	if n := pass(nil); n.Again != time.Second || n.Obj.ObservedGeneration != 3 || n.Obj.MachineHash != m.Hash() {
		t.Errorf("after effects: %+v", n)
	}
	for _, want := range []time.Duration{1, 3, 5} { // 1, 2, 4 s, spread by up to a quarter and rounded up
		n := pass(errors.New("unavailable"))
		if got := n.Obj.RetryAt.Sub(i.Now).Truncate(time.Second) / time.Second; got < want-1 || got > want+1 || n.Again > n.Obj.RetryAt.Sub(i.Now) {
			t.Errorf("retry in %ds, look in %s, want %ds", got, n.Again, want)
		}
		i.Now = n.Obj.RetryAt.Time
	}
	retry, failed := i.Now, i.Obj
	if n := pass(nil); n.Obj.Failures != 0 || n.Obj.RetryAt != nil {
		t.Errorf("a success does not end the back-off: %+v", n.Obj.Place)
	}
	i.Obj = failed
	i.Now = now // our own write wakes us: nothing is done, and nothing written
	if was := i.Obj; i.Obj.RetryAt.After(now) {
		if n := pass(nil); !cmp.Equal(n.Obj, was, cmp.AllowUnexported(lamp{})) {
			t.Error(cmp.Diff(was, n.Obj, cmp.AllowUnexported(lamp{})))
		}
	}
	i.Now = retry
	n := pass(&Error{Class: Refused, Err: errors.New("no")})
	if n.Obj.Phase != "Broken" || n.Again != Never || len(n.Hops) != 1 {
		t.Errorf("refused: %+v", n)
	}
	want := []string{"Ready=False Blow e: Refused", "Stalled=True Blow e: Refused"}
	var got []string
	for _, c := range n.Obj.Conditions {
		got = append(got, fmt.Sprintf("%s=%s %s %s", c.Type, c.Status, c.Reason, c.Message))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := pass(nil); !cmp.Equal(again.Obj, n.Obj, cmp.AllowUnexported(lamp{})) {
		t.Error("a rest is written to", cmp.Diff(n.Obj, again.Obj, cmp.AllowUnexported(lamp{})))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	m, i := machine(), in{Obj: &lamp{}, Now: now}
	for k := range 40 {
		i.World.says = map[Phase]Decision{"Off": Fire("Press", "R"), "On": Wait("R", "w")}
		if k%2 == 1 {
			i.World.says = map[Phase]Decision{"On": Fire("Press", "R"), "Off": Wait("R", "w")}
		}
		s, err := m.Step(i)
		if err != nil {
			t.Fatal(err)
		}
		i.Obj = m.Reduce(i, s, nil).Obj
	}
	if n := len(i.Obj.History); n != remembered {
		t.Errorf("%d moves remembered", n)
	}
}

func TestCheck(t *testing.T) {
	if err := machine().Check(); err != nil {
		t.Fatal(err)
	}
	for want, plant := range map[string]func(*Machine[*lamp, world]){
		"is unreachable":            func(m *Machine[*lamp, world]) { m.Phases["Hidden"] = rule{Doc: "d", Class: Done} },
		"unknown phase":             func(m *Machine[*lamp, world]) { delete(m.Phases, "Broken") },
		"lacks a Doc":               func(m *Machine[*lamp, world]) { m.Phases["Gone"] = rule{Class: Done} },
		"has no way out by Smash":   func(m *Machine[*lamp, world]) { r := m.Phases["On"]; r.Late = "Smash"; m.Phases["On"] = r },
		"deadline and Late":         func(m *Machine[*lamp, world]) { r := m.Phases["On"]; r.Within = 0; m.Phases["On"] = r },
		"or does neither":           func(m *Machine[*lamp, world]) { r := m.Phases["On"]; r.Decide = nil; m.Phases["On"] = r },
		"nothing ends the hold":     func(m *Machine[*lamp, world]) { m.Holds[0].Wake = "" },
		"says what Lost means":      func(m *Machine[*lamp, world]) { m.OneShot = true },
		"hold Paused names the unk": func(m *Machine[*lamp, world]) { m.Holds[0].In = []Phase{"Nowhere"} },
	} {
		m := machine()
		plant(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDrawings(t *testing.T) {
	m := machine()
	for _, want := range []string{"[*] --> Off", "On --> Broken: Burn", "Off --> Gone: Deleted", "Gone --> [*]"} {
		if !strings.Contains(m.Mermaid(), want) {
			t.Errorf("no %q in\n%s", want, m.Mermaid())
		}
	}
	if want := "| Off | Steady | d | Press → On, Deleted → Gone |"; !strings.Contains(m.Table(), want) {
		t.Errorf("no %q in\n%s", want, m.Table())
	}
	hash := m.Hash()
	delete(m.Phases["On"].On, "Blow")
	if hash == m.Hash() {
		t.Error("the hash does not see an edge")
	}
}

// Two bulbs: both move in one pass, the first in order acts.
func TestLanes(t *testing.T) {
	m := machine()
	bulb := func(i LaneInput[*lamp, world]) Decision {
		if i.Place.Phase == "Cold" {
			return Fire("Warm", "R")
		}
		return Do("R", effect("glow "+i.Lane))
	}
	m.Lanes = &Lanes[*lamp, world]{
		In:   []Phase{"On"},
		Want: func(in) []string { return []string{"a", "b"} },
		At: func(l *lamp, k string) *meta.Place {
			if l.bulbs[k] == nil {
				l.bulbs[k] = &meta.Place{}
			}
			return l.bulbs[k]
		},
		Rules: Rules[LaneInput[*lamp, world]]{Start: "Cold", Phases: map[Phase]Rule[LaneInput[*lamp, world]]{
			"Cold": {Doc: "d", Class: Working, Decide: bulb, On: map[Event]Phase{"Warm": "Hot"}},
			"Hot":  {Doc: "d", Class: Working, Decide: bulb, On: map[Event]Phase{"Burn": "Dead"}, Within: time.Minute, Late: "Burn"},
			"Dead": {Doc: "d", Class: Failed},
		}},
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	i := in{Obj: &lamp{Progress: meta.Progress{Place: meta.Place{Phase: "On"}}, bulbs: map[string]*meta.Place{}}, Now: now,
		World: world{says: map[Phase]Decision{"On": Wait("R", "w")}}}
	var got []string
	for range 3 {
		s, err := m.Step(i)
		if err != nil {
			t.Fatal(err)
		}
		var o []Outcome
		for _, e := range s.Decision.Do {
			o = append(o, Outcome{Effect: e, Err: errors.New("unavailable")})
		}
		n := m.Reduce(i, s, o)
		again := n.Again.Round(time.Second).String()
		if n.Again == Never {
			again = "never"
		}
		got = append(got, fmt.Sprintf("%s lane=%s again=%s", show(s), s.Lane, again))
		i.Obj, i.Now = n.Obj, i.Now.Add(n.Again)
		i.World.held = len(got) == 2 // the third pass is held
	}
	want := []string{
		"Cold Hot Cold Hot | wait R lane=a again=0s",
		"| do glow a lane=a again=2s",
		"| wait Paused lane=a again=never",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if i.Obj.bulbs["b"].HeldSince == nil {
		t.Error("the hold on the object does not stop the clock of a lane")
	}
	i.World = world{says: map[Phase]Decision{"On": Fire("Press", "R"), "Off": Wait("R", "w")}}
	i.Now = now.Add(10 * time.Second)
	if s, err := m.Step(i); err != nil || show(s) != "Off | wait R" || s.Lane != "" {
		t.Errorf("the object moves and a lane acts: %s of %q, %v", show(s), s.Lane, err)
	}
}
