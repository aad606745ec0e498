package kube

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// stored reads the lamp from the store.
func (b *bench) stored(t *testing.T) *kubetest.Lamp {
	t.Helper()
	l, found, err := b.Store.Get(t.Context(), lampKey)
	if err != nil || !found {
		t.Fatalf("found %v: %v", found, err)
	}
	return l
}

func (b *bench) save(t *testing.T, was *kubetest.Lamp, phase fsm.Phase) error {
	t.Helper()
	next := was.DeepCopy()
	next.Status.Phase = phase
	return b.Store.Save(t.Context(), was, next)
}

func TestStoreNeverHandsOutAnOlderObjectThanItSaved(t *testing.T) {
	b := newBench(lampMachine())
	b.server.lag()
	for _, phase := range []fsm.Phase{off, on, off} { // each over the one before, which no cache has shown
		if err := b.save(t, b.stored(t), phase); err != nil {
			t.Fatal(err)
		}
		if got := b.stored(t); got.Status.Phase != phase {
			t.Fatalf("saved %s, got %s", phase, got.Status.Phase)
		}
	}
	mine := b.stored(t)
	mine.Status.Phase = "scribbled on"
	if got := b.stored(t); got.Status.Phase != off {
		t.Errorf("handed out its own copy, not one of it: %s", got.Status.Phase)
	}
	// Somebody else writes, and the cache shows it: that is newer.
	theirs := b.server.lamps[lampKey].DeepCopy()
	theirs.Spec.Wish = "theirs"
	b.server.put(theirs)
	b.server.lag()
	if got := b.stored(t); got.Spec.Wish != "theirs" {
		t.Errorf("kept its own over a newer one: %+v", got)
	}
	if len(b.saved()) != 0 {
		t.Error("the cache has caught up, and yet a copy is kept")
	}
}

func TestStoreForgetsWhatIsGone(t *testing.T) {
	for how, then := range map[string]func(*bench){
		"gone": func(b *bench) { delete(b.server.lamps, lampKey) },
		"made anew under the same name": func(b *bench) {
			// Older by number, because versions need not be compared across objects.
			anew := &kubetest.Lamp{}
			anew.Namespace, anew.Name, anew.UID = lampKey.Namespace, lampKey.Name, "another"
			b.server.put(anew)
			b.server.lamps[lampKey].ResourceVersion = "1"
		},
	} {
		t.Run(how, func(t *testing.T) {
			b := newBench(lampMachine())
			if err := b.save(t, b.stored(t), on); err != nil {
				t.Fatal(err)
			}
			then(b)
			l, found, err := b.Store.Get(t.Context(), lampKey)
			if err != nil || l.Status.Phase == on || found != (how != "gone") {
				t.Errorf("found %v in %q: %v", found, l.Status.Phase, err)
			}
			if len(b.saved()) != 0 {
				t.Error("a copy is kept")
			}
		})
	}
}

func TestSaveConflictsWhenTheObjectChanged(t *testing.T) {
	b := newBench(lampMachine())
	was := b.stored(t)
	theirs := was.DeepCopy()
	theirs.Spec.Wish = "theirs"
	b.server.put(theirs)
	if err := b.save(t, was, on); !apierrors.IsConflict(err) {
		t.Errorf("saved over another version: %v", err)
	}
	if len(b.saved()) != 0 {
		t.Error("remembers what it did not save")
	}
}

func TestOwnWriteIsNoNews(t *testing.T) {
	b := newBench(lampMachine())
	was := b.stored(t)
	if err := b.save(t, was, on); err != nil {
		t.Fatal(err)
	}
	mine := b.server.lamps[lampKey].DeepCopy()
	theirs := mine.DeepCopy()
	theirs.Spec.Wish = "theirs"
	b.server.put(theirs)
	another := was.DeepCopy()
	another.UID = "another" // under the same name
	if b.Store.Wrote(another) {
		t.Error("an event of another object passes for our own write")
	}
	if !b.Store.Wrote(was) || len(b.saved()) != 1 {
		t.Error("an event of what we saved over wakes us, or makes us forget what we saved")
	}
	if !b.Store.Wrote(mine) {
		t.Error("our own write wakes us")
	}
	if len(b.saved()) != 0 {
		t.Error("the cache has shown our write, and yet a copy is kept")
	}
	if b.Store.Wrote(b.server.lamps[lampKey]) {
		t.Error("somebody else's write passes for our own")
	}
}

// The watch may be faster than the answer to the write.
func TestOwnWriteIsNoNewsBeforeItsAnswerEither(t *testing.T) {
	b := newBench(lampMachine())
	was := b.stored(t)
	b.server.answers = func() {
		if !b.Store.Wrote(b.server.lamps[lampKey]) {
			t.Error("our own write wakes us")
		}
	}
	if err := b.save(t, was, on); err != nil {
		t.Fatal(err)
	}
	if len(b.saved()) != 0 || len(b.Store.(*StatusStore[*kubetest.Lamp]).saving) != 0 {
		t.Error("the cache has shown our write, and yet a copy is kept")
	}
	// Somebody else's write that comes in between is news, and no reason to forget ours.
	b.server.lag()
	theirs := b.server.lamps[lampKey].DeepCopy()
	theirs.Spec.Wish = "theirs"
	b.server.answers = func() {
		if b.Store.Wrote(theirs) {
			t.Error("somebody else's write passes for our own")
		}
	}
	if err := b.save(t, b.stored(t), off); err != nil {
		t.Fatal(err)
	}
	if got := b.stored(t); got.Status.Phase != off {
		t.Errorf("handed out %s", got.Status.Phase)
	}
}

// A pass may read the cache between its update and the event of it.
func TestOwnWriteIsNoNewsAfterItWasReadEither(t *testing.T) {
	b := newBench(lampMachine())
	if err := b.save(t, b.stored(t), on); err != nil {
		t.Fatal(err)
	}
	b.stored(t)
	if !b.Store.Wrote(b.server.lamps[lampKey]) || len(b.saved()) != 0 {
		t.Error("our own write wakes us, or is kept")
	}
}

// A save that changes nothing has no event that could end the memory of it.
func TestASaveOfNothingIsNotKept(t *testing.T) {
	b := newBench(lampMachine())
	b.server.idle = true
	if err := b.save(t, b.stored(t), on); err != nil {
		t.Fatal(err)
	}
	if len(b.saved()) != 0 {
		t.Error("a copy is kept")
	}
}
