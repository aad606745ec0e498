package kube

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The verbs of a history.
const (
	verbTake    = "take"
	verbRelease = "release"
	verbEnd     = "end" // the holder's object is deleted, or says that it has ended
)

// The results of a call.
const (
	resultDone    = "done"
	resultHeld    = "held"    // By has it
	resultLost    = "lost"    // another was faster: nothing happened
	resultUnknown = "unknown" // the caller died: it happened or not
)

// event is one call and its answer.
type event struct {
	Verb, Holder string
	Target       int
	Result, By   string
	Called       int64
	Returned     int64 // never, if the answer may come at any time
}

const never = math.MaxInt64

// reservation is the specification: who is admitted to one target, and which
// holders have ended. A holder that has ended may be replaced, a living one never.
type reservation struct {
	holder string
	ended  string // a set of holders, as a number
}

func (r reservation) hasEnded(bit int) bool { return bits(r.ended).Bit(bit) == 1 }

func (r reservation) end(bit int) reservation {
	n := bits(r.ended)
	r.ended = n.SetBit(n, bit, 1).Text(62)
	return r
}

func bits(s string) *big.Int {
	n, _ := new(big.Int).SetString("0"+s, 62)
	return n
}

// specification of the events of one target, whose holders have these numbers.
func specification(number map[string]int) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{reservation{}} },
		Step: func(state, in, _ any) []any {
			var next []any
			for _, r := range admits(number, state.(reservation), in.(event)) {
				next = append(next, r)
			}
			return next
		},
	}
	return m.ToModel()
}

// admits lists the states that an event may lead to; none if it cannot have happened.
func admits(number map[string]int, r reservation, e event) []reservation {
	after, possible := r, true
	switch e.Verb {
	case verbTake:
		possible = r.holder == "" || r.holder == e.Holder || r.hasEnded(number[r.holder])
		after.holder = e.Holder
	case verbRelease:
		if r.holder == e.Holder {
			after.holder = ""
		}
	case verbEnd:
		after = r.end(number[e.Holder])
	}
	switch {
	case e.Result == resultUnknown && possible:
		return []reservation{r, after}
	case e.Result == resultUnknown, e.Result == resultLost:
		return []reservation{r}
	case e.Result == resultHeld && (r.holder != e.By || e.By == e.Holder || r.hasEnded(number[e.By])):
		return nil
	case e.Result == resultHeld:
		return []reservation{r}
	case !possible:
		return nil
	}
	return []reservation{after}
}

// judge says whether a history is one of targets that admit at most one holder.
func judge(t testing.TB, history []event) porcupine.CheckResult {
	t.Helper()
	const patience = 2 * time.Minute
	perTarget := map[int][]event{}
	for _, e := range history {
		perTarget[e.Target] = append(perTarget[e.Target], e)
	}
	for target, events := range perTarget {
		number := map[string]int{}
		var ops []porcupine.Operation
		for _, e := range events {
			for _, holder := range []string{e.Holder, e.By} {
				if _, has := number[holder]; !has {
					number[holder] = len(number)
				}
			}
			ops = append(ops, porcupine.Operation{Input: e, Call: e.Called, Return: e.Returned})
		}
		if result := porcupine.CheckOperationsTimeout(specification(number), ops, patience); result != porcupine.Ok {
			t.Logf("target %d, %d events: %s", target, len(events), result)
			return result
		}
	}
	return porcupine.Ok
}

// The specification itself: what it takes for possible and what not.
func TestTheSpecificationOfReservations(t *testing.T) {
	at := int64(0)
	does := func(verb, holder, result, by string) event { // one after the other
		at += 2
		return event{Verb: verb, Holder: holder, Result: result, By: by, Called: at, Returned: at + 1}
	}
	take := func(h string) event { return does(verbTake, h, resultDone, "") }
	release := func(h string) event { return does(verbRelease, h, resultDone, "") }
	end := func(h string) event { return does(verbEnd, h, resultDone, "") }
	sees := func(h, by string) event { return does(verbTake, h, resultHeld, by) }
	dies := func(h string) event { return does(verbTake, h, resultUnknown, "") }
	late := func(e event) event { e.Returned = never; return e }
	for what, c := range map[string]struct {
		history []event
		want    porcupine.CheckResult
	}{
		"one after the other":                    {[]event{take("a"), release("a"), take("b")}, porcupine.Ok},
		"taken twice by the same":                {[]event{take("a"), take("a"), sees("b", "a")}, porcupine.Ok},
		"two at a time":                          {[]event{take("a"), take("b")}, porcupine.Illegal},
		"a living holder is replaced":            {[]event{take("a"), end("c"), take("b")}, porcupine.Illegal},
		"one that has ended is replaced":         {[]event{take("a"), end("a"), take("b")}, porcupine.Ok},
		"and is not admitted besides":            {[]event{take("a"), end("a"), take("b"), take("a")}, porcupine.Illegal},
		"one that has ended is in the way":       {[]event{take("a"), end("a"), sees("b", "a")}, porcupine.Illegal},
		"held by nobody":                         {[]event{take("a"), release("a"), sees("b", "a")}, porcupine.Illegal},
		"released by another":                    {[]event{take("a"), release("b"), sees("c", "a")}, porcupine.Ok},
		"released by another, and free":          {[]event{take("a"), release("b"), take("b")}, porcupine.Illegal},
		"who died may have it":                   {[]event{dies("a"), sees("b", "a")}, porcupine.Ok},
		"or not":                                 {[]event{dies("a"), take("b")}, porcupine.Ok},
		"but not both":                           {[]event{dies("a"), take("b"), release("b"), sees("c", "a")}, porcupine.Illegal},
		"unless its last call took effect later": {[]event{late(dies("a")), take("b"), release("b"), sees("c", "a")}, porcupine.Ok},
	} {
		if got := judge(t, c.history); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
