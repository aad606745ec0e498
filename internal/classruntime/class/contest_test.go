package class

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// fight is a class of which something changes a field after every correction.
type fight struct {
	c   *runtimev1.ClassRuntime
	now time.Time
	t   Target
}

func newFight() *fight {
	return &fight{newClass(), now, Target{Function: "add", Ref: Ref{Kind: KindDeployment, Name: "cart-add", UID: "u1"}, Corrects: []Edit{{".spec.strategy.type", "kubectl-patch"}}}}
}

func (f *fight) input() input {
	w := nothing()
	w.Functions[0].Children[0] = Child{Ref: f.t.Ref, Edits: f.t.Corrects}
	return input{Obj: f.c, World: w, Now: f.now}
}

// correct lets the manager correct the field, after some time.
func (f *fight) correct(after time.Duration, err error) runtimev1.ContestedField {
	f.now = f.now.Add(after)
	out := f.c.DeepCopy()
	noteContested(out, f.input(), []fsm.Outcome{{Effect: Apply{[]Target{f.t}}, Err: err}})
	f.c = out
	if len(out.Status.Contested) == 0 {
		return runtimev1.ContestedField{}
	}
	return out.Status.Contested[0]
}

func (f *fight) paused() time.Duration {
	_, left := pauseOf(f.input(), f.t)
	return left
}

// The fifth correction in ten minutes opens the breaker. After the pause the first correction decides: the next pause has begun
// if the field is changed again, and is twice as long, up to two hours.
func TestAFightIsPaused(t *testing.T) {
	f := newFight()
	for i := range mostCorrections - 1 {
		if is := f.correct(time.Minute, nil); is.Count != int32(i+1) || f.paused() > 0 {
			t.Fatalf("%+v", is)
		}
	}
	for i, want := range []int{10, 20, 40, 80, 120, 120} {
		is := f.correct(f.paused()+time.Second, nil)
		if got := f.paused(); got != time.Duration(want)*time.Minute || is.Count != int32(mostCorrections+i) || len(is.Times) != mostCorrections || !isPaused(f.input(), f.t) {
			t.Errorf("pause %d is %s, want %d min: %+v", i, got, want, is)
		}
	}
	if v, is := contested(f.input()); !is || !strings.Contains(v.message, `.spec.strategy.type of Deployment cart-add is changed again and again, last by "kubectl-patch"`) {
		t.Errorf("%+v", v)
	}
	if len(outdated(f.input(), f.input().World.Functions[0])) != 1 { // the Service
		t.Error("what is fought over is applied")
	}
	f.t.Retake = true
	if isPaused(f.input(), f.t) {
		t.Error("a person's wish waits for the end of a fight")
	}
}

// Corrections that are far apart are no fight, and what was quiet is forgotten.
func TestEditsNowAndThenAreNoFight(t *testing.T) {
	f := newFight()
	for range 20 {
		if is := f.correct(3*time.Minute, nil); is.PausedUntil != nil {
			t.Fatalf("%+v", is)
		}
	}
	f.now = f.now.Add(fightWindow)
	out := f.c.DeepCopy()
	in := f.input()
	if noteContested(out, in, nil); len(out.Status.Contested) != 1 {
		t.Error("an edit that was not corrected yet is forgotten")
	}
	in.World = nothing()
	if noteContested(out, in, nil); len(out.Status.Contested) != 0 {
		t.Errorf("%+v", out.Status.Contested)
	}
}

// Only what was done is counted.
func TestWhatIsCounted(t *testing.T) {
	refused := &fsm.Error{Class: fsm.Refused, Err: Refusals{{"total", ReasonNameTaken, "taken"}}}
	own := &fsm.Error{Class: fsm.Contested, Err: Refusals{{"add", ReasonConflict, "contested"}}}
	for what, c := range map[string]struct {
		err  error
		want int32
	}{
		"it was applied":                {nil, 1},
		"another function was refused":  {refused, 1},
		"it was refused itself":         {own, 0},
		"it is not known what was done": {errors.New("timeout"), 0},
	} {
		if is := newFight().correct(time.Second, c.err); is.Count != c.want {
			t.Errorf("%s: %+v", what, is)
		}
	}
	f := newFight()
	f.t.Corrects = nil
	if is := f.correct(time.Second, nil); is.Count != 0 {
		t.Errorf("an apply that corrects nothing: %+v", is)
	}
}

// A record of many fields stays small, and long paths are cut the same way each time.
func TestTheRecordIsBounded(t *testing.T) {
	f := newFight()
	f.t.Corrects = []Edit{{Field: strings.Repeat("é", longestField)}}
	for i := range 40 {
		f.t.Corrects = append(f.t.Corrects, Edit{Field: ".metadata.labels." + strings.Repeat("x", i)})
	}
	f.correct(time.Second, nil)
	first := f.correct(time.Second, nil)
	if n := len(f.c.Status.Contested); n != mostContested || first.Count != 2 || len(first.Field) > longestField {
		t.Errorf("%d fields, the first is %+v", n, first)
	}
}

// Of many children that are fought over at once all are left alone, also those for which the record has no room; and once the fights
// are over, they are corrected.
func TestManyFightsAreAllPaused(t *testing.T) {
	in := input{Obj: newClass(), World: World{Looked: true}, Now: now}
	for i := range 40 {
		f := blank(fmt.Sprintf("f%02d", i), 1)
		f.Children = []Child{{Ref: Ref{Kind: KindDeployment, Name: f.Name, UID: "u1"}, Edits: []Edit{{Field: ".spec.strategy.type", By: "kubectl-patch"}}}}
		in.World.Functions = append(in.World.Functions, f)
	}
	wrote := 0
	for range 10 {
		var targets []Target
		for _, f := range in.World.Functions {
			targets = append(targets, outdated(in, f)...)
		}
		wrote = len(targets)
		out := in.Obj.DeepCopy()
		noteContested(out, in, []fsm.Outcome{{Effect: Apply{targets}}})
		in.Obj, in.Now = out, in.Now.Add(10*time.Second)
	}
	if wrote > 0 {
		t.Errorf("%d children are corrected after ten rounds", wrote)
	}
	in.World.Functions = in.World.Functions[mostContested:]
	if v, is := contested(in); !is || !strings.Contains(v.message, "while 32 other fields are changed again and again") || v.again <= 0 {
		t.Errorf("%+v", v)
	}
	in.Now = in.Now.Add(longestPause)
	if left := outdated(in, in.World.Functions[0]); len(left) != 1 {
		t.Error("what has no room on record is left alone for ever")
	}
}

// A wish counts once: for what was overridden before it.
func TestRetakes(t *testing.T) {
	since := metav1.NewTime(now.Add(-time.Minute).Truncate(time.Second))
	for what, c := range map[string]struct {
		wish  string
		since *metav1.Time
		want  bool
	}{
		"no wish":                   {"", &since, false},
		"a wish":                    {now.Add(-time.Second).Format(time.RFC3339), &since, true},
		"a wish of now":             {now.Format(time.RFC3339), &since, true},
		"a wish of before":          {now.Add(-time.Hour).Format(time.RFC3339), &since, false},
		"a wish of the same second": {since.Add(300 * time.Millisecond).Format(time.RFC3339Nano), &since, false},
		"a wish from the future":    {now.Add(time.Second).Format(time.RFC3339), &since, false},
		"nothing is overridden":     {now.Format(time.RFC3339), nil, false},
		"no time":                   {"yes", &since, false},
	} {
		obj := newClass()
		obj.Annotations = map[string]string{runtimev1.RetakeAnnotation: c.wish}
		obj.Status.Functions = []runtimev1.FunctionStatus{{Key: "add", Replicas: runtimev1.FunctionReplicas{OverriddenSince: c.since}}}
		if got := retakes(input{Obj: obj, Now: now}, "add"); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// Another number, or another owner, overrides the spec anew, so that a wish of before does not take it back.
func TestScalingAnew(t *testing.T) {
	f := running(2, 5, 5)
	f.Rollout.Desired = 5
	f.Replicas = &ownership.Field{Live: 5, Want: 2, Asked: ptr.To(int32(2)), Owners: []ownership.Owner{{Manager: "kubectl", Scale: true}}}
	in := input{Obj: newClass(), Now: now}
	first := f.numbers(in)
	if first.Owner != "kubectl" || first.Asked == nil || *first.Asked != 2 || !first.OverriddenSince.Equal(ptr.To(metav1.NewTime(now))) {
		t.Errorf("%+v", first)
	}
	in.Obj.Status.Functions = []runtimev1.FunctionStatus{{Key: f.Key, Replicas: first}}
	in.Now = now.Add(time.Minute)
	if same := f.numbers(in); !same.OverriddenSince.Equal(first.OverriddenSince) {
		t.Errorf("the same number is overridden since %s", same.OverriddenSince)
	}
	f.Rollout.Desired, f.Replicas.Live = 6, 6
	if another := f.numbers(in); another.OverriddenSince.Equal(first.OverriddenSince) {
		t.Error("another number is as old as the one before")
	}
	f.Replicas.Live, f.Rollout.Desired = 2, 2
	if none := f.numbers(in); none.OverriddenSince != nil || none.Owner != "Spec" {
		t.Errorf("%+v", none)
	}
}

// A number that is set after a wish, and before the class was looked at again, is not what the wish is about: times in status are whole seconds.
func TestAWishIsAboutTheNumberThatWasSeen(t *testing.T) {
	since := metav1.NewTime(now.Add(-10 * time.Second))
	obj := newClass()
	obj.Annotations = map[string]string{runtimev1.RetakeAnnotation: now.Add(-time.Second).UTC().Format(time.RFC3339)}
	obj.Status.Functions = []runtimev1.FunctionStatus{{Key: "add", Replicas: runtimev1.FunctionReplicas{Desired: 5, OverriddenSince: &since}}}
	for live, want := range map[int32]bool{5: true, 7: false} {
		f := standing().Functions[0]
		f.Replicas = &ownership.Field{Live: live, Want: 2, Asked: ptr.To(int32(2)), Owners: []ownership.Owner{{Manager: "kubectl", Scale: true}}}
		if got := f.replicas(input{Obj: obj, Now: now}).Retake; got != want {
			t.Errorf("%d replicas: taken back %t", live, got)
		}
	}
}
