package fsm

import (
	"slices"
	"testing"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// What waits for something that no event tells is looked at by itself, held or not, in an
// object and in a lane, by the table alone.
func TestWhatNoEventTellsIsLookedAt(t *testing.T) {
	post := Wait("R", "post")
	for name, tc := range map[string]struct {
		world world
		hold  string // what ends the hold Paused
		want  time.Duration
	}{
		"a wait for an event":          {world{says: says{"On": Wait("R", "door")}}, "self", Never},
		"a wait for what tells little": {world{says: says{"On": post}}, "self", 5 * time.Second},
		"for both":                     {world{says: says{"On": Wait("R", "door", "post")}}, "self", 5 * time.Second},
		"which wants to look earlier":  {world{says: says{"On": post.In(time.Second)}}, "self", time.Second},
		"or later":                     {world{says: says{"On": post.In(time.Minute)}}, "self", 5 * time.Second},
		"a hold that an event ends":    {world{held: true, says: says{"On": act}}, "door", Never},
		"a hold that may end silently": {world{held: true, says: says{"On": act}}, "post", 5 * time.Second},
		"a lane":                       {world{says: says{"On": wait}, order: []string{"a"}, bulbs: map[string]says{"a": {"Hot": post}}}, "self", 5 * time.Second},
		"a lane of two":                {world{says: says{"On": wait}, bulbs: map[string]says{"a": {"Hot": wait}, "b": {"Hot": post}}}, "self", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			m := chandelier()
			m.Wakes = []Wake{{Name: "door", By: ByWatch}, {Name: "post", By: ByReservation, Every: 5 * time.Second}}
			m.Holds[0].Wake = tc.hold
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			l := lit(map[string]*meta.Place{"a": {Phase: "Hot"}, "b": {Phase: "Hot"}})
			l.Deadline = nil
			if tc.world.bulbs == nil {
				tc.world.order = []string{}
			}
			s, n := pass(t, m, in{Obj: l, World: tc.world, Now: now}, nil)
			if n.Again != tc.want {
				t.Errorf("looks again in %s, want %s", n.Again, tc.want)
			}
			if tc.want == 5*time.Second && !slices.Contains(s.Wakes, "post") {
				t.Errorf("waits for %v", s.Wakes)
			}
		})
	}
}

func TestUnknownWake(t *testing.T) {
	m := machine()
	m.Wakes = []Wake{{Name: "door", By: ByWatch}}
	if name, is := m.UnknownWake([]string{"self", "door", "retry", "lanes"}); is {
		t.Errorf("%s is unknown", name)
	}
	if name, is := m.UnknownWake([]string{"self", "dor"}); !is || name != "dor" {
		t.Errorf("%q, %t", name, is)
	}
}

// A one-shot that can still be undone says that it is ready, and takes that back when it
// goes on.
func TestOneShotSpeaksWhileItRests(t *testing.T) {
	m := match()
	i := in{Obj: lit(nil), World: world{says: says{"On": wait, "Off": wait}}, Now: now}
	_, n := pass(t, m, i, nil)
	if len(n.Obj.Conditions) != 0 {
		t.Fatalf("at work it says %v", n.Obj.Conditions)
	}
	i.World.says["On"] = press
	_, n = pass(t, m, i, nil)
	if n.Obj.Phase != "Off" || !m.Rests("Off") || m.Rests("On") || m.Rests("Nowhere") || !m.Rests("Broken") || n.Obj.Conditions[0].Status != "True" {
		t.Fatalf("%s says %v", n.Obj.Phase, n.Obj.Conditions)
	}
	i.Obj, i.World.says = n.Obj, says{"Off": press, "On": wait}
	if _, n = pass(t, m, i, nil); n.Obj.Phase != "On" || n.Obj.Conditions[0].Status != "False" {
		t.Errorf("%s says %v", n.Obj.Phase, n.Obj.Conditions)
	}
}
