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

// lit is a lamp that stands in On, with these bulbs.
func lit(bulbs map[string]*meta.Place) *lamp {
	if bulbs == nil {
		bulbs = map[string]*meta.Place{}
	}
	return &lamp{ObjectMeta: metav1.ObjectMeta{UID: "x", Generation: 3}, Bulbs: bulbs,
		Progress: meta.Progress{Place: meta.Place{Phase: "On", Since: *at(-time.Minute), Deadline: at(time.Hour)}}}
}

func TestAgain(t *testing.T) {
	soonDue := meta.Place{Phase: "On", Deadline: at(4 * time.Second)}
	for name, tc := range map[string]struct {
		place meta.Place
		d     Decision
		held  bool
		err   error
		want  time.Duration // rounded to seconds
	}{
		"a move is looked at again at once":       {place: meta.Place{Phase: "On"}, d: press, want: 0},
		"a wait lasts until something wakes it":   {place: meta.Place{Phase: "On"}, d: wait, want: Never},
		"or until its time":                       {place: meta.Place{Phase: "On"}, d: wait.In(time.Minute), want: time.Minute},
		"or until the deadline":                   {place: soonDue, d: wait.In(time.Minute), want: 4 * time.Second},
		"a deadline that stands wakes nobody":     {place: meta.Place{Phase: "On", Deadline: at(time.Second), HeldSince: at(0)}, d: wait, held: true, want: Never},
		"effects are looked at soon":              {place: meta.Place{Phase: "On"}, d: act, want: time.Second},
		"or when they ask to":                     {place: meta.Place{Phase: "On"}, d: act.In(20 * time.Second), want: 20 * time.Second},
		"failed effects wait for the back-off":    {place: meta.Place{Phase: "On", Failures: 4}, d: act, err: errUnavailable, want: 19 * time.Second},
		"a save is looked at at once":             {place: meta.Place{Phase: "On"}, d: Save("R"), want: 0},
		"a refusal that ends it is the last look": {place: meta.Place{Phase: "On"}, d: act, err: &Error{Class: Refused, Err: errUnavailable}, want: Never},
	} {
		t.Run(name, func(t *testing.T) {
			i := in{Obj: &lamp{Progress: meta.Progress{Place: tc.place}}, World: world{held: tc.held, says: says{"On": tc.d, "Off": wait}}, Now: now}
			_, n := pass(t, machine(), i, tc.err)
			if got := n.Again; got != tc.want && got.Round(time.Second) != tc.want {
				t.Errorf("looks again in %s, want %s", got, tc.want)
			}
		})
	}
}

// A Save that changes nothing would spin, and so would a chain in a circle.
func TestNothingSpins(t *testing.T) {
	for name, tc := range map[string]struct {
		says says
		want time.Duration
	}{
		"a save that saves nothing": {says{"On": Save("R")}, 10 * time.Second},
		"and asks for less":         {says{"On": Save("R").In(3 * time.Second)}, 3 * time.Second},
		"a circle":                  {says{"On": press, "Off": press}, 10 * time.Second},
	} {
		i := in{Obj: lit(nil), World: world{says: tc.says}, Now: now}
		_, n := pass(t, machine(), i, nil)
		i.Obj = n.Obj
		if _, n = pass(t, machine(), i, nil); n.Again != tc.want {
			t.Errorf("%s: looks again in %s, want %s", name, n.Again, tc.want)
		}
	}
}

// What failed before says nothing about a spec that was edited since: it is tried at once. What was never observed, as of a
// one-shot that is under way, was not edited.
func TestAnEditEndsTheBackOff(t *testing.T) {
	for observed, ends := range map[int64]bool{-1: false, 0: false, 1: true, 2: false} {
		i := in{Obj: lit(nil), World: world{says: says{"On": act}}, Now: now}
		_, n := pass(t, machine(), i, errUnavailable)
		i.Obj = n.Obj
		i.Obj.Generation, i.Obj.ObservedGeneration = 2, observed
		if s, _ := pass(t, machine(), i, nil); s.Decision.Waits() == ends {
			t.Errorf("observed generation %d of 2: %s", observed, show(s))
		}
	}
}

func TestBackOff(t *testing.T) {
	m, i := machine(), in{Obj: lit(nil), World: world{says: says{"On": act}}, Now: now}
	var waits []int
	for range 11 {
		_, n := pass(t, m, i, errUnavailable)
		waits = append(waits, int(n.Obj.RetryAt.Sub(i.Now)/time.Second))
		woken := i
		woken.Obj = n.Obj // our own write wakes us: nothing is done, and nothing written
		if s, again := pass(t, m, woken, nil); !s.Decision.Waits() || !s.Decision.BackOff || !cmp.Equal(again.Obj, n.Obj) {
			t.Fatalf("%s: %s", show(s), cmp.Diff(n.Obj, again.Obj))
		}
		i.Obj, i.Now, i.Obj.Deadline = n.Obj, n.Obj.RetryAt.Time, nil
	}
	// 1, 2, 4 … 300 s, spread by this UID's 20 % and rounded up.
	if diff := cmp.Diff([]int{1, 3, 5, 10, 20, 39, 77, 154, 308, 360, 360}, waits); diff != "" {
		t.Error(diff)
	}
	if want := `Step "e" failed and is tried again; the manager's log has the error.`; i.Obj.WaitingFor != want || i.Obj.Failures != 11 {
		t.Errorf("waits for %q after %d failures, want %q", i.Obj.WaitingFor, i.Obj.Failures, want)
	}
	if _, n := pass(t, m, i, nil); n.Obj.Failures != 0 || n.Obj.RetryAt != nil {
		t.Errorf("a success does not end the back-off: %+v", n.Obj.Place)
	}
	for waits, over := range map[*in]bool{
		{World: world{says: says{"On": wait}}, Now: i.Now}:                   true,
		{World: world{says: says{"On": wait}}, Now: i.Now.Add(-time.Second)}: false, // it is not yet time
		{World: world{says: says{"On": act}, held: true}, Now: i.Now}:        false, // it is still wanted
	} {
		waits.Obj = i.Obj
		if _, n := pass(t, m, *waits, nil); (n.Obj.Failures == 0 && n.Obj.RetryAt == nil) != over {
			t.Errorf("%+v: nothing is left to do, and the failure is over: want %t, got %+v", waits.World, over, n.Obj.Place)
		}
	}
	other := i
	other.Obj = lit(nil)
	other.Obj.UID, other.Obj.Failures = "another", 10
	if _, n := pass(t, m, other, errUnavailable); int(n.Obj.RetryAt.Sub(other.Now)/time.Second) == 360 {
		t.Error("two objects that failed together try again together")
	}
}

func TestFailureFires(t *testing.T) {
	m, i := machine(), in{Obj: lit(nil), World: world{says: says{"On": act}}, Now: now}
	for class, want := range map[ErrorClass]string{
		Refused:   "Broken/Blow/ask bob",
		Changed:   "On/R/ask bob",
		Transient: "On/R/ask bob",
	} {
		_, n := pass(t, m, i, fmt.Errorf("act: %w", &Error{Class: class, Err: errUnavailable, Say: "ask bob"}))
		c := n.Obj.Conditions[0]
		if got := fmt.Sprintf("%s/%s/%s", n.Obj.Phase, c.Reason, c.Message); got != want {
			t.Errorf("%s comes to %s, want %s", class, got, want)
		}
	}
	err := &Error{Class: Changed, Err: errUnavailable}
	if !errors.Is(err, errUnavailable) || err.Error() != "Changed: "+errUnavailable.Error() {
		t.Error(err)
	}
}

func TestDeadlines(t *testing.T) {
	m := machine()
	i := in{Obj: &lamp{Progress: meta.Progress{Place: meta.Place{Phase: "Off"}}}, World: world{says: says{"Off": press, "On": wait}}, Now: now}
	_, n := pass(t, m, i, nil)
	if want := at(61 * time.Second); !n.Obj.Deadline.Equal(want) || !n.Obj.Since.Equal(at(0)) {
		t.Errorf("entered %s, given up %s, want %s: rounded up", n.Obj.Since, n.Obj.Deadline, want)
	}
	i.World.says = says{"Off": Fire("Fade", "R"), "Dim": wait}
	if _, n := pass(t, m, i, nil); n.Obj.Phase != "Dim" || n.Obj.Deadline != nil {
		t.Errorf("no time asked for on entry, and yet given up %s", n.Obj.Deadline)
	}
	i.Obj.CreationTimestamp = *at(time.Hour)
	if _, n := pass(t, m, i, nil); n.Obj.Phase != "Dim" || !n.Obj.Deadline.Equal(at(time.Hour)) {
		t.Errorf("given up %s, want the time asked for on entry", n.Obj.Deadline)
	}
}

// Held for ten minutes, of which the reflex heals for one: the deadline moves by ten.
func TestHeldClock(t *testing.T) {
	m, i := machine(), in{Obj: lit(nil), Now: now, World: world{held: true, heals: true, says: says{"On": wait}}}
	for range 3 {
		_, n := pass(t, m, i, nil)
		i.Obj, i.Now, i.World.heals = n.Obj, i.Now.Add(5*time.Minute), false
		if !i.Obj.HeldSince.Equal(at(0)) {
			t.Fatalf("held since %s", i.Obj.HeldSince)
		}
	}
	i.World.held, i.Now = false, now.Add(10*time.Minute)
	if _, n := pass(t, m, i, nil); !n.Obj.Deadline.Equal(at(time.Hour+10*time.Minute+time.Second)) || n.Obj.HeldSince != nil {
		t.Errorf("given up %s, held since %s", n.Obj.Deadline, n.Obj.HeldSince)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	m, i := machine(), in{Obj: &lamp{}, Now: now}
	for k := range 40 {
		i.World.says = says{"Off": press, "On": wait}
		if k%2 == 1 {
			i.World.says = says{"On": press, "Off": wait}
		}
		_, n := pass(t, m, i, nil)
		i.Obj = n.Obj
	}
	if n := len(i.Obj.History); n != 16 || i.Obj.History[15].To != "Off" {
		t.Errorf("%d moves remembered, the last to %s", n, i.Obj.History[15].To)
	}
}

func TestMachineHashChangesOnlyWithSomethingElse(t *testing.T) {
	m, i := machine(), in{Obj: lit(nil), World: world{says: says{"On": wait}}, Now: now}
	_, n := pass(t, m, i, nil)
	i.Obj = n.Obj
	m = machine()
	r := m.Phases["On"]
	r.Within = time.Hour
	m.Phases["On"] = r
	if _, again := pass(t, m, i, nil); again.Obj.MachineHash != n.Obj.MachineHash || n.Obj.MachineHash == m.Hash() {
		t.Error("a new version of the machine writes to what is at rest")
	}
	i.World.says = says{"On": wait.Because("%s", "something else")}
	if _, again := pass(t, m, i, nil); again.Obj.MachineHash != m.Hash() || !strings.Contains(again.Obj.WaitingFor, "else") {
		t.Error("a write does not tell which version wrote it")
	}
}
