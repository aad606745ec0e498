package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// kept is how many entries there are for objects, in all that a reconciler keeps in memory.
func (b *bench) kept() map[string]int {
	return map[string]int{
		"failed looks": len(b.blind.count), "conflicts": len(b.conflicts.count), "slow": len(b.slow.slow),
		"known": len(b.Trace.known), "saved": len(b.saved()),
	}
}

var nothingKept = map[string]int{"failed looks": 0, "conflicts": 0, "slow": 0, "known": 0, "saved": 0}

// remembered is a reconciler that keeps something of a lamp everywhere: it was slow, it could not be observed, and a
// save of it met a conflict after another that no cache has shown.
func remembered(t *testing.T) *bench {
	t.Helper()
	b := newBench(lampMachine())
	now := time.Unix(1_700_000_000, 0)
	b.Now = func() time.Time { now = now.Add(time.Second); return now } // every pass is slow
	b.world[off] = fsm.Fire(press, "Pressed")
	b.server.lag()
	reconcileLamp(t, b)
	b.world[on] = fsm.Fire(press, "Pressed")
	b.server.refuses = apierrors.NewConflict(schema.GroupResource{Resource: "lamps"}, "lamp", errors.New("modified"))
	reconcileLamp(t, b)
	b.blindBy = errors.New("blind")
	_, _ = b.Reconcile(t.Context(), ctrl.Request{NamespacedName: lampKey}) // it says so
	b.server.refuses, b.blindBy = nil, nil
	want := map[string]int{"failed looks": 1, "conflicts": 1, "slow": 1, "known": 1, "saved": 1}
	if diff := cmp.Diff(want, b.kept()); diff != "" {
		t.Fatalf("what is to be forgotten is not there: %s", diff)
	}
	b.since()
	return b
}

func reconcileLamp(t *testing.T, b *bench) {
	t.Helper()
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: lampKey}); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsKeptOfAnObjectThatIsGone(t *testing.T) {
	b := remembered(t)
	b.server.cached = nil
	delete(b.server.lamps, lampKey)
	reconcileLamp(t, b)
	if diff := cmp.Diff(nothingKept, b.kept()); diff != "" {
		t.Errorf("a gone object keeps (-want +got): %s", diff)
	}
	if diff := cmp.Diff([]string{"get", "then found=false"}, b.since()); diff != "" {
		t.Error(diff)
	}
}

// TestNothingIsKeptOfAnObjectWhoseNameAnotherHas: who is told that an object is gone is told so before another of its
// name is looked at, even if no pass came between.
func TestNothingIsKeptOfAnObjectWhoseNameAnotherHas(t *testing.T) {
	b := remembered(t)
	b.server.cached = nil
	anew := b.server.lamps[lampKey].DeepCopy()
	anew.UID = "another"
	b.server.put(anew)
	b.world[on] = fsm.Wait("Bright")
	b.Now = time.Now
	reconcileLamp(t, b)
	want := map[string]int{"failed looks": 0, "conflicts": 0, "slow": 0, "known": 1, "saved": 0}
	if diff := cmp.Diff(want, b.kept()); diff != "" {
		t.Errorf("a replaced object keeps (-want +got): %s", diff)
	}
	if did := b.since(); did[1] != "then found=false" || did[len(did)-1] != "then found=true" {
		t.Errorf("it did %v", did)
	}
	if uid := b.Trace.known[lampKey].uid; uid != types.UID("another") {
		t.Errorf("%s is known", uid)
	}
	reconcileLamp(t, b)
	if diff := cmp.Diff([]string{"get", "observe", "then found=true"}, b.since()); diff != "" {
		t.Errorf("it is told twice: %s", diff)
	}
}

// kept is how many entries a sampler has.
func (s *Sampler[V]) kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs) + len(s.busy) + len(s.slow.slow)
}

func TestSamplerKeepsNothingOfWhatIsGone(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(1, nil, slowFrom)
		s.Every(alice, time.Second)
		elapse(3 * time.Second)
		if s.kept() < 2 {
			t.Fatal("a slow one is not remembered")
		}
		elapse(1200 * time.Millisecond) // in the middle of a look
		s.Every(alice, 0)
		elapse(time.Second)
		if n := s.kept(); n != 0 {
			t.Errorf("%d entries are kept", n)
		}
	})
}

// TestSamplerKeepsNoSampleThatWasTakenOnce: who asks for the world of another object may ask after that was forgotten.
func TestSamplerKeepsNoSampleThatWasTakenOnce(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(7, nil, 0)
		s.Every(bob, time.Second)
		s.Every(bob, 0)
		if got := s.Fresh(t.Context(), bob, time.Second); got.Value != 7 || s.Last(bob).Value != 7 {
			t.Fatalf("%+v", got)
		}
		elapse(forgetAfter / 2)
		s.Fresh(t.Context(), bob, time.Second)
		elapse(forgetAfter/2 + time.Second)
		if s.Last(bob).Value != 7 {
			t.Error("what was just asked for is forgotten")
		}
		elapse(forgetAfter)
		if n := s.kept(); n != 0 {
			t.Errorf("%d entries are kept", n)
		}
	})
}

func TestWorkerKeepsNothingOfWhatIsGone(t *testing.T) {
	withWorker(t, func(t *testing.T, w *Worker[string], j *journal, lead func() func()) {
		defer lead()()
		w.Begin(alice, j.job("a", 1, nil))
		w.Begin(bob, func(context.Context) (string, bool, error) { last(5 * time.Second); return "", true, nil }) // cannot be stopped
		elapse(2 * time.Second)
		w.Forget(alice)
		w.Forget(bob)
		elapse(10 * time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.jobs) != 0 || len(w.ending) != 0 {
			t.Errorf("%v and %v are kept", w.jobs, w.ending)
		}
	})
}

// TestKindsThatAreNotServedAreForgotten: users can name any number of them.
func TestKindsThatAreNotServedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := NewOptionalWatch(nil, testrestmapper.TestOnlyStaticRESTMapper(clientgoscheme.Scheme), nil)
		o.ctx = t.Context()
		mice := schema.GroupVersionKind{Group: "zoo", Version: "v1", Kind: "Mouse"}
		if _, sight := o.Look(mice, alice); sight != read.SightUnknown || len(o.unserved) != 1 {
			t.Fatalf("%s, %v", sight, o.unserved)
		}
		o.Keep(func(schema.GroupVersionKind) bool { return true })
		if len(o.unserved) != 1 {
			t.Error("it would be asked again at once")
		}
		elapse(askAgain)
		o.Keep(func(schema.GroupVersionKind) bool { return true })
		if len(o.unserved) != 0 {
			t.Errorf("%v is kept", o.unserved)
		}
	})
}
