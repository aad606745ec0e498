package class

import (
	"fmt"
	"strings"
	"testing"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// TestOrphanPath drills a class of which a function was removed.
func TestOrphanPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := standing()
		w.Functions[0].Children[0].Current = false
		w.Orphans = []Ref{{KindDeployment, "cart-old", "u9", "3"}}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestRefusedPath drills a function that cannot be built, and then is corrected.
func TestRefusedPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := nothing()
		w.Functions[0] = Function{Key: "add", Name: "cart-add", Invalid: "Function add has no image: set image."}
		return w
	}
	b.Settle = func(c *runtimev1.ClassRuntime, w World) World {
		if c.Status.Phase == Degraded && w.Functions[0].Invalid != "" {
			w = w.clone()
			w.Functions[0] = blank("add", 2)
			return w
		}
		return Settle(c, w)
	}
	fsmtest.Drill(t, b)
}

// TestManyFunctionsAreAppliedInBatches: no pass has more than it can do in its time, and those that are refused do not
// keep others waiting.
func TestManyFunctionsAreAppliedInBatches(t *testing.T) {
	c, w := newClass(), World{Looked: true}
	for i := range 40 {
		w.Functions = append(w.Functions, blank(fmt.Sprintf("f%02d", i), 1))
	}
	for i := range 20 {
		c.Status.Functions = append(c.Status.Functions, runtimev1.FunctionStatus{Key: fmt.Sprintf("f%02d", i), Reason: ReasonNameTaken})
	}
	first := batch(input{Obj: c, World: w})
	if len(first) != 2*mostAtATime || first[0].Function != "f20" {
		t.Errorf("%d children, from %s", len(first), first[0].Function)
	}
	w = Perform(Perform(w, Apply{first}), Apply{batch(input{Obj: c, World: Perform(w, Apply{first})})})
	if left := batch(input{Obj: c, World: w}); len(left) != 2*8 || left[0].Function != "f12" {
		t.Errorf("%d children are left, from %s", len(left), left[0].Function)
	}
}

// One function that is refused for ever does not keep others running that the spec does not have. What takes the place of something
// is tried first, and what is left over of a function that the spec has waits for what the function needs.
func TestWhatIsAbandonedDoesNotWaitForAPerson(t *testing.T) {
	old, part := Ref{KindDeployment, "cart-old", "u9", "3"}, Ref{KindAutoscaler, "cart-add", "u8", "3"}
	refusedBefore := []runtimev1.FunctionStatus{{Key: "add", Reason: ReasonNameTaken}, {Key: "total", Reason: ReasonApplyInvalid}}
	for what, c := range map[string]struct {
		functions []runtimev1.FunctionStatus
		orphans   []Ref
		want      string
	}{
		"nothing was tried":      {nil, []Ref{old}, "apply"},
		"one was not tried":      {refusedBefore[:1], []Ref{old}, "apply"},
		"all were refused":       {refusedBefore, []Ref{part, old}, "remove Deployment cart-old"},
		"a part of one of those": {refusedBefore, []Ref{part}, "apply"},
	} {
		in := input{Obj: newClass(), World: nothing(), Now: now}
		in.Obj.Status.Functions, in.World.Orphans = c.functions, c.orphans
		d, acts := work(in, ReasonNameTaken, "A name is taken.")
		if !acts || len(d.Do) != 1 || !strings.HasPrefix(d.Do[0].String(), c.want) || d.Reason != ReasonNameTaken {
			t.Errorf("%s: %+v", what, d)
		}
	}
}

// The status takes so many references, and no more.
func TestRefsAreBounded(t *testing.T) {
	w := standing()
	for i := range 600 {
		w.Orphans = append(w.Orphans, Ref{KindDeployment, fmt.Sprintf("cart-old-%d", i), "u9", "3"})
	}
	if n := len(refs(w)); n != mostRefs {
		t.Errorf("%d references", n)
	}
}

// A refusal is on record with the function that it is of, until it is tried again.
func TestRefusalsAreTold(t *testing.T) {
	in := input{Obj: newClass(), World: nothing(), Now: now}
	in.Obj.Status.Phase = Applying
	s, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	refusal := &fsm.Error{
		Class: fsm.Refused, Reason: ReasonNameTaken, Say: "Deployment cart-add is taken.",
		Err: Refusals{{"add", ReasonNameTaken, "Deployment cart-add is taken."}},
	}
	next := Machine.Reduce(in, s, []fsm.Outcome{{Effect: s.Decision.Do[0], Err: refusal}}).Obj
	add, total := next.Status.Functions[0], next.Status.Functions[1]
	if next.Status.Phase != Degraded || add.Reason != ReasonNameTaken || total.Reason != ReasonApplying {
		t.Errorf("%s: %+v, %+v", next.Status.Phase, add, total)
	}
	in.Obj, in.Now = next, now.Add(time.Minute)
	if s, err = Machine.Step(in); err != nil || len(s.Decision.Do) != 1 || s.Decision.Reason != ReasonNameTaken {
		t.Errorf("%v: %+v", err, s.Decision)
	}
	if first := s.Decision.Do[0].(Apply).Children[0]; first.Function != "total" {
		t.Errorf("%s comes before what was not refused", first.Function)
	}
}
