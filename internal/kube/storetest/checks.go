package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Phases that objects are moved to.
const (
	first  fsm.Phase = "First"
	second fsm.Phase = "Second"
)

// isIn fails unless a Store says that the object is in a phase.
func (r *trial[T]) isIn(t *testing.T, s kube.Store[T], phase fsm.Phase) T {
	t.Helper()
	obj := r.get(t, s)
	if got := obj.GetProgress().Phase; got != phase {
		t.Errorf("it is in %q, not in %q", got, phase)
	}
	return obj
}

// isNew fails unless nothing is known of the object.
func (r *trial[T]) isNew(t *testing.T, s kube.Store[T]) {
	t.Helper()
	got := *r.get(t, s).GetProgress()
	if diff := cmp.Diff(r.fresh, got, cmpopts.IgnoreTypes(metav1.Time{})); diff != "" {
		t.Errorf("it is not as new (-new +got):\n%s", diff)
	}
}

func savedIsRead[T kube.Object[T]](t *testing.T, r *trial[T]) {
	next := moved(r.get(t, r.store), first)
	r.mustSave(t, r.store, r.get(t, r.store), first)
	_, other := r.process()
	for who, s := range map[string]kube.Store[T]{"who saved": r.store, "another process": other} {
		if diff := cmp.Diff(next.GetProgress(), r.get(t, s).GetProgress()); diff != "" {
			t.Errorf("%s reads (-saved +read):\n%s", who, diff)
		}
	}
	r.mustSave(t, other, r.get(t, other), second)
	r.isIn(t, r.store, second)
}

func neverOlder[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.spy.freeze()
	for _, phase := range []fsm.Phase{first, second, first} { // each over the one before, which no cache has shown
		r.mustSave(t, r.store, r.get(t, r.store), phase)
		r.isIn(t, r.store, phase)
	}
	// Somebody else writes, and the cache shows it: that is newer.
	_, other := r.process()
	r.mustSave(t, other, r.get(t, other), second)
	r.spy.freeze()
	r.isIn(t, r.store, second)
}

func handsOutCopies[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.spy.freeze()
	r.mustSave(t, r.store, r.get(t, r.store), first)
	obj := r.get(t, r.store)
	obj.GetProgress().Phase = "ScribbledOn"
	obj.GetProgress().History[0].Message = "scribbled on"
	if got := r.isIn(t, r.store, first); got.GetProgress().History[0].Message == "scribbled on" {
		t.Error("the history is its own, not a copy of it")
	}
}

func savesOnce[T kube.Object[T]](t *testing.T, r *trial[T]) {
	was := r.get(t, r.store)
	r.spy.writes = 0
	r.mustSave(t, r.store, was, first)
	if r.spy.writes != 1 {
		t.Errorf("%d writes", r.spy.writes)
	}
}

func leavesOthersAlone[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.others(t)
	theirs := func() client.Object {
		k := r.keeper(t)
		k.SetResourceVersion("")
		r.Own(k)
		return k
	}
	before := theirs()
	was := r.get(t, r.store)
	next := moved(was, first)
	next.SetLabels(map[string]string{"ours": "1"})
	next.SetFinalizers([]string{"statecraft.dev/ours"})
	next.SetAnnotations(map[string]string{"ours": "1"})
	if err := r.store.Save(t.Context(), was, next); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, theirs()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func conflictsWithChanges[T kube.Object[T]](t *testing.T, r *trial[T]) {
	was := r.get(t, r.store)
	r.others(t)
	if err := r.saves(t, r.store, was, first); !apierrors.IsConflict(err) {
		t.Errorf("saved over another version: %v", err)
	}
	r.isNew(t, r.store) // and not what it did not save
}

func twoWriters[T kube.Object[T]](t *testing.T, r *trial[T]) {
	_, other := r.process()
	ours, theirs := r.get(t, r.store), r.get(t, other)
	r.mustSave(t, other, theirs, first)
	if err := r.saves(t, r.store, ours, second); !apierrors.IsConflict(err) {
		t.Errorf("both have saved: %v", err)
	}
	r.isIn(t, r.store, first)
	r.isIn(t, other, first)
	r.mustSave(t, r.store, r.get(t, r.store), second) // who lost looks again
	r.isIn(t, other, second)
}

func staysGone[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.mustSave(t, r.store, r.get(t, r.store), first)
	was := r.get(t, r.store)
	r.remove(t)
	// Whether that is an error depends on whether the object itself is gone, or only what kept its progress.
	if err := r.saves(t, r.store, was, second); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		t.Errorf("neither gone nor changed: %v", err)
	}
	if _, found, err := r.store.Get(t.Context(), r.key); err != nil || found {
		t.Errorf("found %t: %v", found, err)
	}
	keeper := r.Keeper(r.key)
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(keeper), keeper); !apierrors.IsNotFound(err) {
		t.Errorf("the save brought it back: %v", err)
	}
}

func anotherOfThatName[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.mustSave(t, r.store, r.get(t, r.store), first)
	was := r.get(t, r.store)
	r.remove(t)
	r.Make(t, r.name)
	if err := r.saves(t, r.store, was, second); !apierrors.IsConflict(err) {
		t.Errorf("saved over another object: %v", err)
	}
	r.isNew(t, r.store)
	if current, err := r.store.Current(t.Context(), was); err != nil || current {
		t.Errorf("the one that is gone is current: %t, %v", current, err)
	}
}

func currentIsLive[T kube.Object[T]](t *testing.T, r *trial[T]) {
	r.spy.freeze()
	is := func(obj T, want bool, what string) {
		t.Helper()
		if got, err := r.store.Current(t.Context(), obj); err != nil || got != want {
			t.Errorf("%s is current: %t, %v", what, got, err)
		}
	}
	was := r.get(t, r.store)
	is(was, true, "what was read")
	r.mustSave(t, r.store, was, first)
	is(was, false, "what was saved over")
	now := r.get(t, r.store)
	is(now, true, "what was saved")
	r.others(t)
	is(now, false, "what others have changed")
	r.remove(t)
	is(now, false, "what is gone")
}

func wipedIsNew[T kube.Object[T]](t *testing.T, r *trial[T]) {
	was := r.get(t, r.store)
	r.mustSave(t, r.store, was, first)
	mine := r.get(t, r.store)
	r.apply(t, r.Wipe)
	r.isNew(t, r.store)
	if err := r.saves(t, r.store, mine, second); !apierrors.IsConflict(err) {
		t.Errorf("saved over the wiped one: %v", err)
	}
	r.mustSave(t, r.store, r.get(t, r.store), second)
	r.isIn(t, r.store, second)
}

func garbledIsNew[T kube.Object[T]](t *testing.T, r *trial[T]) {
	for _, garble := range r.Garble {
		r.mustSave(t, r.store, r.get(t, r.store), first)
		r.apply(t, garble)
		r.isNew(t, r.store)
		r.mustSave(t, r.store, r.get(t, r.store), first)
		r.isIn(t, r.store, first)
	}
}

func ownWritesAreNoNews[T kube.Object[T]](t *testing.T, r *trial[T]) {
	shown := r.keeper(t)
	if r.store.Wrote(shown) {
		t.Error("what was there before passes for an own write")
	}
	r.mustSave(t, r.store, r.get(t, r.store), first)
	mine := r.keeper(t)
	another := mine.DeepCopyObject().(client.Object)
	another.SetUID("another")
	r.others(t)
	if r.store.Wrote(another) {
		t.Error("an event of another object passes for an own write")
	}
	if watched := r.store.Watched() != nil; r.store.Wrote(shown) != watched || r.store.Wrote(mine) != watched {
		t.Errorf("watched %t, and an own write, or what it was made over, is taken for the contrary", watched)
	}
	if r.store.Wrote(r.keeper(t)) {
		t.Error("a write of others passes for an own one")
	}
}

// The watch may be faster than the answer to the write.
func earlyWritesAreNoNews[T kube.Object[T]](t *testing.T, r *trial[T]) {
	watched, was := r.store.Watched() != nil, r.get(t, r.store)
	r.spy.answers = func() {
		if r.store.Wrote(r.keeper(t)) != watched {
			t.Errorf("watched %t, and the own write is taken for the contrary", watched)
		}
	}
	r.mustSave(t, r.store, was, first)
	r.spy.answers = nil
	r.isIn(t, r.store, first)
}
