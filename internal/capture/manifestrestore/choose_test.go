package manifestrestore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func TestWhatBecomesOfAName(t *testing.T) {
	ours := Seen{UID: "u1", Mark: Mark{By: "r1", As: capturev1.ResultReplaced, Changed: []string{"data.a"}}}
	for what, c := range map[string]struct {
		item   Item
		policy capturev1.ConflictPolicy
		seen   Seen
		move   Move
		result capturev1.RestoreResult
		reason fsm.Reason
	}{
		"a free name":                        {policy: capturev1.ConflictFail, move: Create},
		"our own, from before a crash":       {policy: capturev1.ConflictFail, seen: ours, move: Leave, result: capturev1.ResultReplaced},
		"Fail":                               {policy: capturev1.ConflictFail, seen: Seen{UID: "u1"}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonConflict},
		"a policy that nobody knows":         {policy: "Other", seen: Seen{UID: "u1"}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonConflict},
		"Skip":                               {policy: capturev1.ConflictSkip, seen: Seen{UID: "u1"}, move: Leave, result: capturev1.ResultSkipped, reason: capturev1.ReasonNameTaken},
		"Replace":                            {policy: capturev1.ConflictReplace, seen: Seen{UID: "u1"}, move: Replace},
		"Replace what is controlled":         {policy: capturev1.ConflictReplace, seen: Seen{UID: "u1", Controlled: true}, move: Leave, result: capturev1.ResultFailed, reason: ReasonControlled},
		"Skip a claim that is being deleted": {item: Item{Capture: "nightly"}, policy: capturev1.ConflictSkip, seen: Seen{UID: "u1", Leaving: true}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonNameTaken},
		"Skip a claim without its volume":    {item: Item{Capture: "nightly"}, policy: capturev1.ConflictSkip, seen: Seen{UID: "u1", Hollow: true}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonNameTaken},
		"our own claim without its volume":   {item: Item{Capture: "nightly"}, policy: capturev1.ConflictSkip, seen: Seen{UID: "u1", Hollow: true, Mark: ours.Mark}, move: Leave, result: capturev1.ResultReplaced},
		"Replace what is being deleted":      {policy: capturev1.ConflictReplace, seen: Seen{UID: "u1", Leaving: true}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonNameTaken},
		"Replace a claim with a volume":      {item: Item{Capture: "nightly"}, policy: capturev1.ConflictReplace, seen: Seen{UID: "u1"}, move: Leave, result: capturev1.ResultFailed, reason: capturev1.ReasonNameTaken},
		"Replace a kind of ours":             {item: Item{Outline: Outline{Key: Key{Group: "valkey.statecraft.dev"}}}, policy: capturev1.ConflictReplace, seen: Seen{UID: "u1"}, move: Leave, result: capturev1.ResultFailed, reason: ReasonOwnKind},
		"create a kind of ours":              {item: Item{Outline: Outline{Key: Key{Group: "valkey.statecraft.dev"}}}, policy: capturev1.ConflictReplace, move: Create},
		"a request is not restored":          {item: Item{Outline: Outline{Key: Key{Group: "capture.statecraft.dev"}}}, move: Leave, result: capturev1.ResultSkipped, reason: ReasonOwnKind},
		"a group that only ends like one":    {item: Item{Outline: Outline{Key: Key{Group: "notstatecraft.dev"}}}, policy: capturev1.ConflictReplace, seen: Seen{UID: "u1"}, move: Replace},
	} {
		move, r := Choose(c.item, c.policy, c.seen)
		if move != c.move || r.Result != c.result || r.Reason != c.reason {
			t.Errorf("%s: %s, %s %s", what, move, r.Result, r.Reason)
		}
	}
}

func TestWhatBecameOfAnObject(t *testing.T) {
	created := &capturev1.ObjectResult{Result: capturev1.ResultCreated, UID: "u1"}
	for what, c := range map[string]struct {
		policy capturev1.ConflictPolicy
		seen   Seen
		before *capturev1.ObjectResult
		want   string // result and reason, or unsure
	}{
		"it bears our mark":                 {seen: Seen{UID: "u1", Mark: Mark{By: "r1", As: capturev1.ResultCreated}}, want: "Created "},
		"somebody took the mark off":        {seen: Seen{UID: "u1"}, before: created, want: "Created "},
		"it is gone":                        {before: created, want: "Failed Vanished"},
		"it is another":                     {seen: Seen{UID: "u2"}, before: created, want: "Failed Vanished"},
		"it could not be written":           {before: &capturev1.ObjectResult{Result: capturev1.ResultFailed, Reason: ReasonInvalid}, want: "Failed Invalid"},
		"it was never its turn":             {before: &capturev1.ObjectResult{Result: capturev1.ResultPending}, want: "Pending NotReached"},
		"nothing is known, nothing there":   {want: "Pending NotReached"},
		"nothing is known of a taken name":  {seen: Seen{UID: "u2"}, policy: capturev1.ConflictFail, want: "Failed Conflict"},
		"nothing is known of a skipped one": {seen: Seen{UID: "u2"}, policy: capturev1.ConflictSkip, want: "Skipped NameTaken"},
		"it was skipped":                    {seen: Seen{UID: "u2"}, policy: capturev1.ConflictSkip, before: &capturev1.ObjectResult{Result: capturev1.ResultSkipped}, want: "Skipped "},
		"it may have been as it should be":  {seen: Seen{UID: "u2"}, policy: capturev1.ConflictReplace, want: "unsure"},
	} {
		r, unsure := Judge(Item{}, c.policy, c.seen, c.before)
		got := fmt.Sprintf("%s %s", r.Result, r.Reason)
		if unsure {
			got = "unsure"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestChangedNamesFieldsWithoutValues(t *testing.T) {
	obj := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	is := obj(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","resourceVersion":"1","annotations":{"capture.statecraft.dev/restored":"x"}},
		"data":{"password":"canary","same":"1","gone":"canary"},"list":[{"a":1,"b":2}],"grows":[1],"status":{"x":1}}`)
	will := obj(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","resourceVersion":"2","labels":{"app.kubernetes.io/name":"x"}},
		"data":{"password":"other","same":"1","new":"canary"},"list":[{"a":1,"b":3}],"grows":[1,2],"status":{"x":2}}`)
	got := Changed(is, will)
	want := []string{"data.gone", "data.new", "data.password", "grows", "list[0].b", "metadata.labels"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(got, " "), "canary") {
		t.Error("a value is shown")
	}
	if same := Changed(is, is); len(same) != 0 {
		t.Errorf("it differs from itself in %v", same)
	}
}

func TestAStatusHoldsWhatMattersMost(t *testing.T) {
	var results []capturev1.ObjectResult
	for i := range 3000 {
		r := capturev1.ObjectResult{Name: fmt.Sprint(i), Result: capturev1.ResultCreated}
		if i >= 2900 {
			r = capturev1.ObjectResult{Name: fmt.Sprint(i), Result: capturev1.ResultFailed, Reason: ReasonInvalid, Message: strings.Repeat("ü", 5000)}
		}
		if i < 1500 {
			r.Result, r.Changed = capturev1.ResultReplaced, slicesOf("spec.template.spec.containers[0].image", 100)
		}
		results = append(results, r)
	}
	r := Tally(results)
	if r.Objects != 3000 || r.Counts[capturev1.ResultFailed] != 100 || r.Reasons[ReasonInvalid] != 100 {
		t.Errorf("counts %+v of %d", r.Counts, r.Objects)
	}
	words := 0
	for _, one := range r.Results {
		words += len(one.Message) + len(strings.Join(one.Changed, ""))
		if len([]rune(one.Message)) > mostMessage || len(one.Changed) > mostChanged {
			t.Fatalf("more than the schema allows: %d, %d", len([]rune(one.Message)), len(one.Changed))
		}
	}
	if len(r.Results) != mostResults || r.Results[99].Result != capturev1.ResultFailed || words > mostWords {
		t.Errorf("%d results, %d bytes of words", len(r.Results), words)
	}
	if results[2900].Message == r.Results[0].Message {
		t.Error("a message is not cut")
	}
}

func slicesOf(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}

// Another restore left a claim when its volume did not come: that it is there does not mean that it holds anything.
func TestAClaimWithoutItsVolumeIsSeen(t *testing.T) {
	for what, c := range map[string]struct {
		annotation, phase string
		want              bool
	}{
		"of a restore, and bound":   {"v1", "Bound", false},
		"of a restore, and not":     {"v1", "Pending", true},
		"of a restore, just made":   {"v1", "", true},
		"somebody's, and not bound": {"", "Pending", false},
	} {
		claim := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": c.phase}}}
		claim.SetAnnotations(map[string]string{capturev1.RestoreAnnotation: c.annotation})
		if got := See(claim, "r1").Hollow; got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
