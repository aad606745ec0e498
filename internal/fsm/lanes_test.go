package fsm

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

func TestLanes(t *testing.T) {
	hot := func() *meta.Place { return &meta.Place{Phase: "Hot", Deadline: at(time.Minute)} }
	warm, cool, glow := Fire("Warm", "R"), Fire("Cool", "R"), Do("R", effect("glow"))
	idle := says{"Cold": wait, "Hot": wait}
	for name, tc := range map[string]struct {
		a, b *meta.Place
		w    world
		err  error
		want string // step, when to look again, words
	}{
		"all lanes start and move, none acts yet":  {nil, nil, world{bulbs: map[string]says{"a": {"Cold": warm, "Hot": glow}, "b": {"Cold": wait}}}, nil, "aCold aHot bCold | a wait R, 0s, R"},
		"the first that wants to act acts":         {hot(), hot(), world{bulbs: map[string]says{"a": idle, "b": {"Hot": glow}}}, nil, "| b do glow, 1s, R"},
		"in the order wanted":                      {hot(), hot(), world{order: []string{"b", "a"}, bulbs: map[string]says{"a": {"Hot": glow}, "b": {"Hot": act}}}, nil, "| b do e, 1s, R"},
		"an object that acts goes first":           {hot(), hot(), world{says: says{"On": Do("Own", effect("own"))}, bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, nil, "| do own, 1s, Own"},
		"an object that saves goes first":          {hot(), hot(), world{says: says{"On": Save("Own")}, bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, nil, "| save Own, 0s, Own"},
		"an object that moves leaves its lanes":    {hot(), hot(), world{says: says{"On": press, "Off": wait}, bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, nil, "Off | wait R, 0s, "},
		"a reflex goes before lanes":               {nil, nil, world{heals: true, bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, nil, "| do heal, 1s, Heal"},
		"a lane's timer is not lost":               {hot(), hot(), world{bulbs: map[string]says{"a": idle, "b": {"Hot": wait.In(7 * time.Second)}}}, nil, "| a wait R, 7s, R"},
		"nor is the object's own":                  {hot(), hot(), world{says: says{"On": wait.In(9 * time.Second)}, bulbs: map[string]says{"a": idle, "b": idle}}, nil, "| a wait R, 9s, R"},
		"nor is a lane's deadline":                 {hot(), hot(), world{bulbs: map[string]says{"a": idle, "b": idle}}, nil, "| a wait R, 1m0s, R"},
		"nor is a lane's back-off":                 {hot(), &meta.Place{Phase: "Hot", RetryAt: at(5 * time.Second)}, world{bulbs: map[string]says{"a": idle, "b": {"Hot": glow}}}, nil, "| b wait R, 5s, as told"},
		"a lane that is late moves":                {&meta.Place{Phase: "Hot", Deadline: at(0)}, hot(), world{bulbs: map[string]says{"a": {"Hot": glow}, "b": {"Hot": glow}}}, nil, "aDead | b do glow, 0s, R"},
		"a lane that has ended has no say":         {&meta.Place{Phase: "Dead"}, hot(), world{bulbs: map[string]says{"b": idle}}, nil, "| b wait R, 1m0s, R"},
		"a hold on the object holds its lanes":     {hot(), hot(), world{held: true, bulbs: map[string]says{"a": {"Hot": glow}, "b": {"Hot": glow}}}, nil, "| a wait Paused, never, paused by bob"},
		"but not their verdicts":                   {hot(), hot(), world{held: true, bulbs: map[string]says{"a": {"Hot": Fire("Burn", "R")}, "b": {"Hot": glow}}}, nil, "aDead | b wait Paused, 0s, paused by bob"},
		"a lane's own hold":                        {&meta.Place{Phase: "Cold"}, hot(), world{bulbs: map[string]says{"shy": {}, "a": {"Cold": warm}, "b": idle}}, nil, "| a wait Shy, 1h0m0s, Shy"},
		"a lane's failure fires its edge":          {hot(), hot(), world{bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, &Error{Class: Refused, Err: errUnavailable}, "| a do glow, 0s, Step \"glow\" was refused; the manager's log has the error."},
		"a lane's failure backs off":               {hot(), hot(), world{bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, errUnavailable, "| a do glow, 2s, Step \"glow\" failed and is tried again; the manager's log has the error."},
		"a lane in a circle does not spin":         {hot(), hot(), world{bulbs: map[string]says{"a": {"Hot": cool, "Cold": warm}, "b": {"Hot": glow}}}, nil, "aCold | b do glow, 10s, R"},
		"an object in a circle of its own neither": {hot(), hot(), world{says: says{"On": press, "Off": press}, bulbs: map[string]says{"a": {"Hot": glow}, "b": idle}}, nil, "Off | wait Circling, 10s, "},
	} {
		t.Run(name, func(t *testing.T) {
			bulbs := map[string]*meta.Place{}
			for key, p := range map[string]*meta.Place{"a": tc.a, "b": tc.b} {
				if p != nil {
					bulbs[key] = p
				}
			}
			i := in{Obj: lit(bulbs), World: tc.w, Now: now}
			i.Obj.WaitingFor = "as told"
			if i.World.says == nil {
				i.World.says = says{"On": Wait("Own", "w")}
			}
			m := chandelier()
			s, n := pass(t, m, i, tc.err)
			again := n.Again.Round(time.Second).String()
			if n.Again == Never {
				again = "never"
			}
			if diff := cmp.Diff(tc.want, fmt.Sprintf("%s, %s, %s", show(s), again, n.Obj.WaitingFor)); diff != "" {
				t.Error(diff)
			}
			for _, h := range n.Obj.History {
				if h.From != "On" {
					t.Errorf("a lane's move is in the history: %v", h)
				}
			}
			if i.World.heals && len(n.Obj.Bulbs) != len(bulbs) {
				t.Error("room is made for lanes that did not run")
			}
		})
	}
}

// Under a hold the clock of a lane stands, too, and moves on release.
func TestHeldLaneClock(t *testing.T) {
	i := in{Obj: lit(map[string]*meta.Place{"a": {Phase: "Hot", Deadline: at(time.Minute)}, "b": {Phase: "Dead"}}), Now: now,
		World: world{held: true, says: says{"On": wait}, bulbs: map[string]says{"a": {"Hot": wait}}}}
	_, n := pass(t, chandelier(), i, nil)
	i.Obj, i.Now, i.World.held = n.Obj, now.Add(time.Hour), false
	_, n = pass(t, chandelier(), i, nil)
	if p := n.Obj.Bulbs["a"]; p.Phase != "Hot" || !p.Deadline.Equal(at(time.Hour+time.Minute+time.Second)) {
		t.Errorf("held for an hour, the lane is in %s until %s", p.Phase, p.Deadline)
	}
}

// The words of a failure stand until its back-off ends, whoever else only waits.
func TestFailureStandsAmongLanes(t *testing.T) {
	for name, w := range map[string]world{
		"of a lane":     {says: says{"On": wait}, bulbs: map[string]says{"a": {"Hot": wait}, "b": {"Hot": act}}},
		"of the object": {says: says{"On": act}, bulbs: map[string]says{"a": {"Hot": wait}, "b": {"Hot": wait}}},
	} {
		i := in{Obj: lit(map[string]*meta.Place{"a": {Phase: "Hot"}, "b": {Phase: "Hot"}}), World: w, Now: now}
		_, n := pass(t, chandelier(), i, errUnavailable)
		i.Obj = n.Obj
		if _, again := pass(t, chandelier(), i, nil); !cmp.Equal(n.Obj, again.Obj) || n.Obj.WaitingFor != `Step "e" failed and is tried again; the manager's log has the error.` {
			t.Errorf("%s: %s", name, cmp.Diff(n.Obj, again.Obj))
		}
	}
}

func TestResetForgetsLanes(t *testing.T) {
	i := in{Obj: lit(map[string]*meta.Place{"a": {Phase: "Dead"}, "b": {Phase: "Hot"}}), Now: now,
		World: world{says: says{"Off": press, "On": wait}}}
	i.Obj.Annotations = map[string]string{ResetAnnotation: "1970-01-01T00:16:00Z"}
	if _, n := pass(t, chandelier(), i, nil); n.Obj.Bulbs["a"].Phase != "" || n.Obj.Bulbs["b"].Phase != "" || i.Obj.Bulbs["a"].Phase != "Dead" {
		t.Errorf("a lane that made the object stick stays in %s", n.Obj.Bulbs["a"].Phase)
	}
}
