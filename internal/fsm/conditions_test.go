package fsm

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// told is what a human reads of a lamp.
func told(l *lamp) []string {
	out := []string{l.WaitingFor}
	for _, c := range l.Conditions {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s=%s %s %s", c.Type, c.Status, c.Reason, c.Message)))
	}
	return out
}

func TestConditions(t *testing.T) {
	said := wait.Because("bob must act")
	for name, tc := range map[string]struct {
		machine *table
		phase   Phase
		d       Decision
		del     bool
		own     []metav1.Condition
		want    []string
	}{
		"working is not ready":                 {machine(), "On", said, false, nil, []string{"bob must act", "Ready=False R bob must act"}},
		"degraded is not ready":                {machine(), "Dim", wait, false, nil, []string{"R", "Ready=False R"}},
		"steady is ready, and waits for none":  {machine(), "Off", said, false, nil, []string{"", "Ready=True R bob must act"}},
		"done is ready":                        {machine(), "On", said, true, nil, []string{"", "Ready=True Deleted"}},
		"failed is stalled":                    {machine(), "On", Fire("Burn", "Hot"), false, nil, []string{"", "Ready=False Hot", "Stalled=True Hot"}},
		"a one-shot says nothing before":       {match(), "On", said, false, nil, []string{"bob must act"}},
		"and all when it has ended":            {match(), "On", Fire("Burn", "Hot"), false, nil, []string{"", "Ready=False Hot", "Stalled=True Hot"}},
		"a kind's own come along":              {machine(), "On", wait, false, []metav1.Condition{{Type: "Lit", Status: "True", Reason: "Seen"}}, []string{"R", "Ready=False R", "Lit=True Seen"}},
		"a kind's own Ready replaces":          {machine(), "On", wait, false, []metav1.Condition{{Type: Ready, Status: "Unknown"}}, []string{"R", "Ready=Unknown R"}},
		"a kind's own Stalled replaces":        {machine(), "On", wait, false, []metav1.Condition{{Type: Stalled, Status: "True"}}, []string{"R", "Ready=False R", "Stalled=True R"}},
		"a Stalled that is not true is absent": {machine(), "On", Fire("Burn", "Hot"), false, []metav1.Condition{{Type: Stalled, Status: "False"}}, []string{"", "Ready=False Hot"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.machine.Conditions = func(i in, _ Decision) []metav1.Condition {
				if i.Obj.Phase == tc.phase && tc.d.On != "" {
					t.Errorf("conditions are asked about %s, which was left", i.Obj.Phase)
				}
				return tc.own
			}
			i := in{Obj: &lamp{Progress: meta.Progress{Place: meta.Place{Phase: tc.phase}}}, World: world{says: says{tc.phase: tc.d}}, Now: now}
			i.Obj.Generation = 3
			if tc.del {
				i.Obj.DeletionTimestamp = at(0)
			}
			_, n := pass(t, tc.machine, i, nil)
			if diff := cmp.Diff(tc.want, told(n.Obj)); diff != "" {
				t.Error(diff)
			}
			if seen := n.Obj.ObservedGeneration; (seen == 3) != (len(n.Obj.Conditions) > 0) {
				t.Errorf("observed generation %d beside %d conditions", seen, len(n.Obj.Conditions))
			}
		})
	}
}

// Two words on one condition would flip its lastTransitionTime in every pass.
func TestOwnReadyRests(t *testing.T) {
	m := machine()
	m.Conditions = func(in, Decision) []metav1.Condition { return []metav1.Condition{{Type: Ready, Status: "Unknown"}} }
	i := in{Obj: lit(nil), World: world{says: says{"On": wait}}, Now: now}
	_, n := pass(t, m, i, nil)
	i.Obj, i.Now = n.Obj, now.Add(time.Minute)
	if _, again := pass(t, m, i, nil); !cmp.Equal(n.Obj, again.Obj) {
		t.Error(cmp.Diff(n.Obj, again.Obj))
	}
}

// The reason is that of the words, and stands while it is the same: at rest nothing is written.
func TestReason(t *testing.T) {
	own := []metav1.Condition{{Type: Ready, Status: "False", Reason: "Own", Message: "own words"}}
	for name, tc := range map[string]struct {
		machine *table
		world   world
		own     []metav1.Condition
		err     error
		want    string
	}{
		"of a wait":                       {machine(), world{says: says{"On": wait}}, nil, nil, "R"},
		"of a one-shot that is under way": {match(), world{says: says{"On": wait}}, nil, nil, "R"},
		"of a hold":                       {machine(), world{held: true, says: says{"On": act}}, nil, nil, "Paused"},
		"of the last move":                {match(), world{says: says{"On": Fire("Burn", "Hot")}}, nil, nil, "Hot"},
		"of a failure that has one":       {match(), world{says: says{"On": act}}, nil, &Error{Class: Transient, Err: errUnavailable, Reason: "Down"}, "Down"},
		"of what failed without one":      {match(), world{says: says{"On": act}}, nil, errUnavailable, "R"},
		"of the kind's own Ready":         {machine(), world{says: says{"On": wait}}, own, nil, "Own"},
	} {
		tc.machine.Conditions = func(in, Decision) []metav1.Condition { return tc.own }
		i := in{Obj: lit(nil), World: tc.world, Now: now}
		_, n := pass(t, tc.machine, i, tc.err)
		if n.Obj.Reason != Reason(tc.want) {
			t.Errorf("%s: %s, want %s", name, n.Obj.Reason, tc.want)
		}
		i.Obj = n.Obj // while it backs off, and after its end, the reason stands
		if _, again := pass(t, tc.machine, i, nil); again.Obj.Reason != n.Obj.Reason {
			t.Errorf("%s: %s becomes %s", name, n.Obj.Reason, again.Obj.Reason)
		}
	}
}

// A hold speaks even where nothing else is awaited.
func TestHeldSays(t *testing.T) {
	i := in{Obj: &lamp{Progress: meta.Progress{Place: meta.Place{Phase: "Off"}}}, World: world{held: true, says: says{"Off": press}}, Now: now}
	_, n := pass(t, machine(), i, nil)
	if diff := cmp.Diff([]string{"paused by bob", "Ready=True Paused paused by bob"}, told(n.Obj)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsFinal(t *testing.T) {
	end := func(m *table) in {
		i := in{Obj: lit(nil), World: world{says: says{"On": Fire("Burn", "Hot")}}, Now: now}
		_, n := pass(t, m, i, nil)
		i.Obj, i.Now = n.Obj, now.Add(1e9)
		return i
	}
	i := end(machine())
	if _, n := pass(t, machine(), i, nil); !cmp.Equal(n.Obj, i.Obj) || n.Again != Never {
		t.Error("what has ended is written to", cmp.Diff(i.Obj, n.Obj))
	}
	i.Obj.Generation++
	if _, n := pass(t, machine(), i, nil); n.Obj.ObservedGeneration != i.Obj.Generation {
		t.Error("an edit of what has ended looks unseen for ever")
	}
	i = end(match())
	i.Obj.Generation++
	m := match()
	m.Report = func(out *lamp, _ in, _ Pass) { out.WaitingFor = "more" }
	if _, n := pass(t, m, i, nil); !cmp.Equal(n.Obj, i.Obj) || n.Again != Never {
		t.Error("a one-shot that has ended is written to", cmp.Diff(i.Obj, n.Obj))
	}
}

// The schema refuses more than 1024 characters, and with them the whole save.
func TestMessagesAreCut(t *testing.T) {
	i := in{Obj: lit(nil), World: world{says: says{"On": wait.Because("%s", strings.Repeat("ö", 2000))}}, Now: now}
	_, n := pass(t, machine(), i, nil)
	for _, text := range []string{n.Obj.WaitingFor, n.Obj.Conditions[0].Message} {
		if utf8.RuneCountInString(text) != 1024 || !strings.HasSuffix(text, "ö…") {
			t.Errorf("%d characters", utf8.RuneCountInString(text))
		}
	}
}
