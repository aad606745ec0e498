package fsm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

var (
	wait  = Wait("R", "w")
	press = Fire("Press", "R")
	act   = Do("R", effect("e"))
)

func TestStep(t *testing.T) {
	off, on := meta.Place{Phase: "Off"}, meta.Place{Phase: "On"}
	late := meta.Place{Phase: "On", Deadline: at(0)}
	for name, tc := range map[string]struct {
		place meta.Place
		world world
		del   bool
		want  string // hops, then the decision
	}{
		"a new object starts":                         {world: world{says: says{"Off": wait}}, want: "Off | wait R"},
		"a guard comes before the first decision":     {del: true, world: world{says: says{"Off": press}}, want: "Off Gone | wait Deleted"},
		"moves chain, effects wait for the save":      {place: off, world: world{says: says{"Off": press, "On": act}}, want: "On | wait R"},
		"saves wait for the save of the move":         {place: off, world: world{says: says{"Off": press, "On": Save("R")}}, want: "On | wait R"},
		"effects run in a saved phase":                {place: on, world: world{says: says{"On": act}}, want: "| do e"},
		"a circle is stopped":                         {place: off, world: world{says: says{"Off": press, "On": press}}, want: "On | wait Circling"},
		"a guard comes first":                         {place: on, del: true, world: world{heals: true}, want: "Gone | wait Deleted"},
		"a guard leaves final phases alone":           {place: meta.Place{Phase: "Broken"}, del: true, want: "|"},
		"a reflex leaves final phases alone":          {place: meta.Place{Phase: "Broken"}, world: world{heals: true}, want: "|"},
		"late beats effects":                          {place: late, world: world{says: says{"On": act}}, want: "Broken | wait Burn"},
		"late beats saves":                            {place: late, world: world{says: says{"On": Save("R")}}, want: "Broken | wait Burn"},
		"a move beats late":                           {place: late, world: world{says: says{"On": press, "Off": wait}}, want: "Off | wait R"},
		"not late before the deadline":                {place: meta.Place{Phase: "On", Deadline: at(time.Second)}, world: world{says: says{"On": act}}, want: "| do e"},
		"a reflex beats late":                         {place: late, world: world{heals: true}, want: "| do heal"},
		"a reflex beats the rule":                     {place: on, world: world{heals: true, says: says{"On": act}}, want: "| do heal"},
		"a reflex heals under a hold":                 {place: on, world: world{heals: true, held: true}, want: "| do heal"},
		"a reflex waits until the phase is saved":     {world: world{heals: true}, want: "Off | wait Heal"},
		"a hold stops effects":                        {place: on, world: world{held: true, says: says{"On": act}}, want: "| wait Paused"},
		"a hold lets saves pass":                      {place: on, world: world{held: true, says: says{"On": Save("R")}}, want: "| save R"},
		"a hold closes the door":                      {place: off, world: world{held: true, says: says{"Off": press}}, want: "| wait Paused"},
		"a hold leaves open doors open":               {place: off, world: world{held: true, says: says{"Off": Fire("Fade", "R"), "Dim": wait}}, want: "Dim | wait R"},
		"a hold lets verdicts pass":                   {place: on, world: world{held: true, says: says{"On": Fire("Burn", "R")}}, want: "Broken | wait R"},
		"a hold stops the clock":                      {place: late, world: world{held: true, says: says{"On": wait}}, want: "| wait Paused"},
		"a hold leaves other phases alone":            {place: off, world: world{held: true, says: says{"Off": act}}, want: "| do e"},
		"a hold under which the clock runs ends late": {place: late, world: world{ticking: true, says: says{"On": press}}, want: "Broken | wait Burn"},
		"and not before":                              {place: meta.Place{Phase: "On", Deadline: at(time.Minute)}, world: world{ticking: true, says: says{"On": press}}, want: "| wait Closed"},
		"a release moves the deadline":                {place: meta.Place{Phase: "On", Deadline: at(-time.Hour), HeldSince: at(-2 * time.Hour)}, world: world{says: says{"On": wait}}, want: "| wait R"},
		"a back-off puts effects off":                 {place: meta.Place{Phase: "On", RetryAt: at(time.Second)}, world: world{says: says{"On": act}}, want: "| wait R"},
		"a back-off puts a reflex off":                {place: meta.Place{Phase: "On", RetryAt: at(time.Second)}, world: world{heals: true, says: says{"On": wait}}, want: "| wait Heal"},
		"and all that is less urgent":                 {place: meta.Place{Phase: "On", RetryAt: at(time.Second)}, world: world{heals: true, says: says{"On": act}}, want: "| wait Heal"},
		"but no move":                                 {place: meta.Place{Phase: "On", RetryAt: at(time.Second)}, world: world{heals: true, says: says{"On": press, "Off": wait}}, want: "Off | wait R"},
		"and not the end of time":                     {place: meta.Place{Phase: "On", RetryAt: at(time.Second), Deadline: at(0)}, world: world{heals: true, says: says{"On": wait}}, want: "Broken | wait Burn"},
		"a back-off ends":                             {place: meta.Place{Phase: "On", RetryAt: at(0)}, world: world{says: says{"On": act}}, want: "| do e"},
		"a back-off does not stop moves":              {place: meta.Place{Phase: "On", RetryAt: at(time.Hour)}, world: world{says: says{"On": press, "Off": wait}}, want: "Off | wait R"},
		"a back-off does not stop saves":              {place: meta.Place{Phase: "On", RetryAt: at(time.Hour)}, world: world{says: says{"On": Save("R")}}, want: "| save R"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &lamp{Progress: meta.Progress{Place: tc.place}}
			if tc.del {
				obj.DeletionTimestamp = at(0)
			}
			s, err := machine().Step(in{Obj: obj, World: tc.world, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, show(s)); diff != "" {
				t.Error(diff)
			}
			if s.Circled != (s.Decision.Reason == Circling) {
				t.Error("a circle is not counted")
			}
		})
	}
}

// A lamp that is deleted while it is stolen is deleted: the order of guards counts.
func TestOnlyTheFirstGuardMoves(t *testing.T) {
	m := machine()
	m.Guards = append(m.Guards, Guard[in]{On: "Stolen", To: "Broken", In: []Phase{"On", "Gone"}, When: func(in) bool { return true }})
	i := in{Obj: lit(nil), Now: now}
	i.Obj.DeletionTimestamp = at(0)
	if s, err := m.Step(i); err != nil || show(s) != "Gone | wait Deleted" {
		t.Error(show(s), err)
	}
}

func TestStepRefuses(t *testing.T) {
	for want, i := range map[string]in{
		`Lamp: unknown phase "Blinking"`:                   {Obj: &lamp{Progress: meta.Progress{Place: meta.Place{Phase: "Blinking"}}}},
		`Lamp: Off has no way out by Kick`:                 {Obj: &lamp{}, World: world{says: says{"Off": Fire("Kick", "R")}}},
		`Lamp: Off decides without a reason`:               {Obj: &lamp{}},
		`Lamp: Off decides on two things at once`:          {Obj: &lamp{}, World: world{says: says{"Off": {On: "Press", Save: true, Reason: "R"}}}},
		`Lamp: reflex moves, which only a rule may`:        {Obj: &lamp{}, World: world{moves: true}},
		`Lamp: begins in the unknown phase "Blinking"`:     {Obj: &lamp{}, World: world{lost: "Blinking"}},
		`Lamp: lane a: unknown phase "Blinking"`:           {Obj: lit(map[string]*meta.Place{"a": {Phase: "Blinking"}})},
		`Lamp: lane b: Cold decides without a reason`:      {Obj: lit(nil), World: world{bulbs: map[string]says{"a": {"Cold": wait}}}},
		`Lamp: lane a: Cold has no way out by Kick`:        {Obj: lit(nil), World: world{bulbs: map[string]says{"a": {"Cold": Fire("Kick", "R")}}}},
		`Lamp: lane a: Cold decides on two things at once`: {Obj: lit(nil), World: world{bulbs: map[string]says{"a": {"Cold": {Do: act.Do, Save: true, Reason: "R"}}}}},
	} {
		m := chandelier()
		if i.World.lost != "" {
			m = match()
		}
		if _, err := m.Step(i); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestReset(t *testing.T) {
	place := func(since time.Duration) meta.Place {
		return meta.Place{Phase: "On", Since: *at(since), Deadline: at(time.Hour)}
	}
	for name, tc := range map[string]struct {
		machine *table
		place   meta.Place
		wish    string
		want    string
	}{
		"a reset starts over":            {machine(), place(-time.Hour), "1970-01-01T00:16:00Z", "Off | wait R"},
		"a reset is granted once":        {machine(), place(0), "1970-01-01T00:16:00Z", "| wait R"},
		"whatever its fraction":          {machine(), place(0), "1970-01-01T00:16:40.2Z", "| wait R"},
		"a reset from the future is not": {machine(), place(-time.Hour), "1970-01-01T00:16:41Z", "| wait R"},
		"nor is what is no time":         {machine(), place(-time.Hour), "yes", "| wait R"},
		"a one-shot is not started over": {match(), place(-time.Hour), "1970-01-01T00:16:00Z", "| wait R"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &lamp{Progress: meta.Progress{Place: tc.place}}
			obj.Annotations = map[string]string{ResetAnnotation: tc.wish}
			s, err := tc.machine.Step(in{Obj: obj, World: world{says: says{"On": wait, "Off": wait}}, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, show(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOneShot(t *testing.T) {
	for name, tc := range map[string]struct {
		phase Phase
		lost  Phase
		want  string
	}{
		"one that is new begins":                     {want: "Off | wait R"},
		"one that forgot is where the World says":    {lost: "On", want: "On | wait R"},
		"one that forgot and ended has ended":        {lost: "Broken", want: "Broken | wait StatusLost"},
		"one that has not forgotten is not asked":    {phase: "Off", lost: "Broken", want: "| wait R"},
		"one that has ended is left alone by guards": {phase: "Dim", want: "|"},
	} {
		t.Run(name, func(t *testing.T) {
			m := match()
			m.Guards = []Guard[in]{{On: "Wake", To: "Off", In: []Phase{"Dim"}, When: func(in) bool { return true }}}
			m.Phases["Dim"] = Rule[in]{Doc: "d", Class: Done}
			obj := &lamp{Progress: meta.Progress{Place: meta.Place{Phase: tc.phase}}}
			s, _ := pass(t, m, in{Obj: obj, World: world{lost: tc.lost, says: says{"On": act, "Off": wait}}, Now: now}, nil)
			if diff := cmp.Diff(tc.want, show(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
