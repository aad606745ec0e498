package fsm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// What was awaited, refused or seen is told with the move, in its reason and its words, in
// the condition and in the history.
func TestWordsTravelWithAMove(t *testing.T) {
	late := meta.Place{Phase: "On", Deadline: at(-time.Minute)}
	for name, tc := range map[string]struct {
		place  meta.Place
		d      Decision
		held   bool
		plant  func(*Rule[in])
		err    error
		before string // waitingFor
		want   string // phase, reason and message of the move
	}{
		"a wait that was in vain":                   {place: late, d: wait.Because("a bulb"), want: "Broken Burn: Not done within 1m: a bulb"},
		"which had no words":                        {place: late, d: wait, want: "Broken Burn: Not done within 1m: R"},
		"which has a reason and words for the case": {place: late, d: wait.Because("a bulb").OrLate(Verdict{"NoBulb", "a bulb from bob"}), want: "Broken NoBulb: Not done within 1m: a bulb from bob"},
		"a rule that names the reason":              {place: late, d: wait, plant: func(r *Rule[in]) { r.LateReason = "TooLate" }, want: "Broken TooLate: Not done within 1m: R"},
		"a rule that keeps the reason":              {place: late, d: wait, plant: func(r *Rule[in]) { r.LateReason = Awaited }, want: "Broken R: Not done within 1m: R"},
		"a deadline that was asked for on entry": {place: late, d: wait, plant: func(r *Rule[in]) {
			r.Within, r.Until = 0, func(in) time.Time { return now }
		}, want: "Broken Burn: Not done in time: R"},
		"an effect that backed off until then": {place: meta.Place{Phase: "On", Deadline: at(-time.Minute), Failures: 3, RetryAt: at(time.Minute)},
			d: act.Because("light"), before: "the fuse is blown", want: "Broken Burn: Not done within 1m: the fuse is blown"},
		"an effect that was refused":        {place: meta.Place{Phase: "On"}, d: act, err: &Error{Class: Refused, Err: errUnavailable, Say: "Ask bob."}, want: "Broken Blow: Ask bob."},
		"which says why in one word":        {place: meta.Place{Phase: "On"}, d: act, err: &Error{Class: Refused, Err: errUnavailable, Reason: "NoFuse"}, want: "Broken NoFuse: Step \"e\" was refused; the manager's log has the error."},
		"a guard that has something to say": {place: meta.Place{Phase: "Dim"}, d: wait, want: "Gone Deleted: bob deleted it"},
		"a move of its own":                 {place: meta.Place{Phase: "Dim"}, d: Fire("Press", "R").Because("pressed"), want: "Off R: pressed"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine()
			m.Guards[0].Say = func(in) string { return "bob deleted it" }
			if rule := m.Phases["On"]; tc.plant != nil {
				tc.plant(&rule)
				m.Phases["On"] = rule
			}
			l := &lamp{Progress: meta.Progress{Place: tc.place, WaitingFor: tc.before}}
			if strings.HasPrefix(tc.want, "Gone") {
				l.DeletionTimestamp = at(0)
			}
			i := in{Obj: l, World: world{held: tc.held, says: says{tc.place.Phase: tc.d, "Off": wait}}, Now: now}
			_, n := pass(t, m, i, tc.err)
			move := n.Hops[0]
			if got := fmt.Sprintf("%s %s: %s", move.To, move.Reason, move.Message); got != tc.want {
				t.Errorf("moves to %s, want %s", got, tc.want)
			}
			if kept, found := n.Obj.LastMove(move.To); !found || kept != move.Transition {
				t.Errorf("the history has %v", n.Obj.History)
			}
			if c := n.Obj.Conditions[0]; m.Phases[move.To].final() && (c.Reason != string(move.Reason) || c.Message != move.Message) {
				t.Errorf("the condition says %s: %s", c.Reason, c.Message)
			}
		})
	}
}

// While an effect backs off, its error's reason is that of the condition.
func TestReasonOfAFailureStands(t *testing.T) {
	i := in{Obj: lit(nil), World: world{says: says{"On": act}}, Now: now}
	_, n := pass(t, machine(), i, &Error{Class: Contested, Err: errUnavailable, Reason: "FieldConflict", Say: "spec.size is set by bob."})
	if c := n.Obj.Conditions[0]; c.Reason != "FieldConflict" || c.Message != "spec.size is set by bob." || n.Obj.Phase != "On" {
		t.Errorf("%s: %s %s", n.Obj.Phase, c.Reason, c.Message)
	}
}

func TestLostAndResetSayWhy(t *testing.T) {
	m := match()
	m.LostMessage = "light another"
	_, n := pass(t, m, in{Obj: &lamp{}, World: world{lost: "Broken"}, Now: now}, nil)
	if c := n.Obj.Conditions[0]; c.Reason != "StatusLost" || c.Message != "light another" {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}
	l := lit(nil)
	l.Annotations = map[string]string{ResetAnnotation: now.Format(time.RFC3339)}
	_, n = pass(t, machine(), in{Obj: l, World: world{says: says{"Off": wait}}, Now: now.Add(time.Hour)}, nil)
	if move, _ := n.Obj.LastMove("Off"); !strings.Contains(move.Message, ResetAnnotation) {
		t.Errorf("%+v", move)
	}
}

// A rule that is reached by a chain of moves finds the moves in the history.
func TestAChainSeesItsOwnMoves(t *testing.T) {
	m, seen := machine(), 0
	off := m.Phases["Off"]
	off.Decide = func(i in) Decision {
		if move, found := i.Obj.LastMove("Off"); found && move.Message == "pressed" {
			seen++
		}
		return wait
	}
	m.Phases["Off"] = off
	i := in{Obj: lit(nil), World: world{says: says{"On": Fire("Press", "R").Because("pressed")}}, Now: now}
	if _, n := pass(t, m, i, nil); seen != 1 || len(n.Obj.History) != 1 || len(i.Obj.History) != 0 {
		t.Errorf("seen %d times; the history is %v", seen, n.Obj.History)
	}
}
