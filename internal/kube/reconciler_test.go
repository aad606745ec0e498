package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func TestAPassSavesBeforeItTells(t *testing.T) {
	b := newBench(lampMachine())
	b.world[off] = fsm.Fire(press, "Pressed")
	want := []string{
		"get", "observe", "save",
		"event Normal Pressed Press: On. (Off → On)", "then found=true", // one for the whole way
	}
	if diff := cmp.Diff(want, b.pass(t)); diff != "" {
		t.Errorf("first pass (-want +got):\n%s", diff)
	}
	b.world[on] = fsm.Do("Polish", effect("polish"), effect("shine"))
	want = []string{"get", "observe", "act polish", "act shine", "save", "then found=true"}
	if diff := cmp.Diff(want, b.pass(t)); diff != "" {
		t.Errorf("pass with effects (-want +got):\n%s", diff)
	}
	b.world[on] = fsm.Wait("Polish")
	want = []string{"get", "observe", "then found=true"}
	if diff := cmp.Diff(want, b.pass(t)); diff != "" {
		t.Errorf("pass at rest (-want +got):\n%s", diff)
	}
	delete(b.server.lamps, lampKey)
	if diff := cmp.Diff([]string{"get", "then found=false"}, b.pass(t)); diff != "" {
		t.Errorf("pass over nothing (-want +got):\n%s", diff)
	}
}

func TestWhatWasNotSavedIsNotTold(t *testing.T) {
	lamps := schema.GroupResource{Resource: "lamps"}
	for why, c := range map[string]struct {
		answer error
		again  time.Duration
		fails  bool
	}{
		"conflict": {apierrors.NewConflict(lamps, "lamp", errors.New("modified")), soonAfterConflict, false},
		"gone":     {apierrors.NewNotFound(lamps, "lamp"), fsm.Never, false},
		"ended":    {context.Canceled, fsm.Never, false},
		"broken":   {apierrors.NewInternalError(errors.New("etcd")), fsm.Never, true},
	} {
		t.Run(why, func(t *testing.T) {
			b := newBench(lampMachine())
			b.world[off] = fsm.Fire(press, "Pressed")
			b.server.refuses = c.answer
			again, err := b.Pass(t.Context(), lampKey)
			if again != c.again || (err != nil) != c.fails {
				t.Errorf("again %s, error %v", again, err)
			}
			if diff := cmp.Diff([]string{"get", "observe", "save"}, b.since()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whoever saved first, the effects of the second were for nothing: it is looked at again later
// with every conflict in a row.
func TestConflictsBackOff(t *testing.T) {
	b := newBench(lampMachine())
	b.world[off] = fsm.Fire(press, "Pressed")
	b.server.refuses = apierrors.NewConflict(schema.GroupResource{Resource: "lamps"}, "lamp", errors.New("modified"))
	var waits []time.Duration
	for range 9 {
		again, err := b.Pass(t.Context(), lampKey)
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, again/time.Millisecond)
	}
	if diff := cmp.Diff([]time.Duration{50, 100, 200, 400, 800, 1600, 3200, 5000, 5000}, waits); diff != "" {
		t.Error(diff)
	}
	b.server.refuses = nil
	b.pass(t)
	b.world[on] = fsm.Fire(press, "Pressed")
	b.server.refuses = apierrors.NewConflict(schema.GroupResource{Resource: "lamps"}, "lamp", errors.New("modified"))
	if again, _ := b.Pass(t.Context(), lampKey); again != soonAfterConflict {
		t.Errorf("after a save that went well, a conflict waits %s", again)
	}
}

// What cannot be undone is not done for an object that another process has moved on.
func TestWhatCannotBeUndoneIsDoneForTheObjectAsItIs(t *testing.T) {
	for what, c := range map[string]struct {
		effect fsm.Effect
		change func(*server)
		want   []string
	}{
		"as it was":             {smash{"bulb", "it is dark"}, func(*server) {}, []string{"get", "observe", "get live", "act smash bulb", "save"}},
		"changed since":         {smash{"bulb", "it is dark"}, func(s *server) { s.lag(); s.put(s.lamps[lampKey]) }, []string{"get", "observe", "get live", "save"}},
		"made anew":             {smash{"bulb", "it is dark"}, func(s *server) { s.lag(); s.lamps[lampKey].UID = "another" }, []string{"get", "observe", "get live", "save"}},
		"gone":                  {smash{"bulb", "it is dark"}, func(s *server) { s.lag(); delete(s.lamps, lampKey) }, []string{"get", "observe", "get live", "save"}},
		"what needs no proof":   {smash{"bulb", ""}, func(s *server) { s.lag(); s.put(s.lamps[lampKey]) }, []string{"get", "observe", "act smash bulb", "save"}},
		"an effect like others": {effect("polish"), func(s *server) { s.lag(); s.put(s.lamps[lampKey]) }, []string{"get", "observe", "act polish", "save"}},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(lampMachine())
			b.pass(t)
			b.world[off] = fsm.Do("Smash", c.effect)
			c.change(b.server)
			if _, err := b.Pass(t.Context(), lampKey); err != nil {
				t.Fatal(err)
			}
			did := b.since()
			if diff := cmp.Diff(c.want, did[:len(c.want)]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Objects whose world does not answer share a few places, and leave the rest to others.
func TestSlowObjectsHoldFewWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(lampMachine())
		b.Limits.Slow = 2
		var slow atomic.Bool
		slow.Store(true)
		b.Observe = func(context.Context, *kubetest.Lamp) (world, error) {
			if slow.Load() {
				last(time.Second)
			}
			return nil, errDark
		}
		reconcile := func() (turned int) {
			var wait sync.WaitGroup
			var away atomic.Int32
			for i := range 5 {
				wait.Go(func() {
					r, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: read.Key{Namespace: lampKey.Namespace, Name: fmt.Sprint("lamp-", i)}})
					if err == nil && r.RequeueAfter == slowAgain {
						away.Add(1)
					}
				})
			}
			wait.Wait()
			return int(away.Load())
		}
		for i := range 5 {
			l := &kubetest.Lamp{ObjectMeta: metav1.ObjectMeta{Namespace: lampKey.Namespace, Name: fmt.Sprint("lamp-", i), UID: "1"}}
			b.server.put(l)
		}
		for _, want := range []int{0, 3, 3} { // slow for the first time, and then known to be
			if turned := reconcile(); turned != want {
				t.Errorf("%d are turned away, want %d", turned, want)
			}
		}
		slow.Store(false)
		for range 3 { // two at a time find out that they are not
			reconcile()
		}
		if turned := reconcile(); turned != 0 {
			t.Errorf("%d are turned away, and none is slow", turned)
		}
	})
}

func TestEffectsStopAtTheFirstError(t *testing.T) {
	b := newBench(lampMachine())
	b.pass(t)
	b.world[off] = fsm.Do("Polish", effect("one"), effect("two"), effect("three"))
	b.fails["two"] = &fsm.Error{Class: fsm.Refused, Err: errors.New("10.0.0.1: no"), Say: "two is stuck"}
	want := []string{
		"get", "observe", "act one", "act two", "save",
		"event Warning Refused Off: two is stuck", "then found=true",
	}
	if diff := cmp.Diff(want, b.pass(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := b.server.lamps[lampKey].Status; s.Failures != 1 || s.WaitingFor != "two is stuck" || s.RetryAt == nil {
		t.Errorf("status: %+v", s)
	}
}

func TestEffectsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(lampMachine())
		b.pass(t)
		b.world[off] = fsm.Do("Polish", effect("one"), effect("two"))
		b.acts = func(ctx context.Context) { <-ctx.Done() }
		b.fails["one"] = context.DeadlineExceeded
		began := time.Now()
		b.pass(t)
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("effects took %s", took)
		}
		if s := b.server.lamps[lampKey].Status; s.Failures != 1 || s.WaitingFor != `Step "one" failed and is tried again; the manager's log has the error.` {
			t.Errorf("status: %+v", s) // saved all the same
		}
	})
}

func TestObserveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(lampMachine())
		b.Observe = func(ctx context.Context, _ *kubetest.Lamp) (world, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		began := time.Now()
		if _, err := b.Pass(t.Context(), lampKey); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("looking took %s", took)
		}
	})
}

func TestAnUnknownPhaseIsRefused(t *testing.T) {
	for how, blindBy := range map[string]error{"seeing": nil, "blind": errors.New("cannot see")} {
		t.Run(how, func(t *testing.T) {
			b := newBench(lampMachine())
			newer := b.server.lamps[lampKey].DeepCopy()
			newer.Status.Phase = "Flickering"
			b.server.put(newer)
			b.blindBy = blindBy
			refused := metricOf(t, metricRefused.WithLabelValues("Lamp"))
			unknown := metricOf(t, metricUnknown.WithLabelValues("Lamp"))
			for range blindAfter + 1 {
				if _, err := b.Pass(t.Context(), lampKey); !errors.Is(err, reconcile.TerminalError(nil)) {
					t.Fatalf("not refused: %v", err)
				}
			}
			saves := 0
			for _, did := range b.since() {
				if did == "save" {
					saves++
				}
				if did == "then found=true" {
					t.Errorf("did %q", did)
				}
			}
			if status, reason := b.ready(); saves != 1 || status != metav1.ConditionUnknown || reason != "UnknownPhase" {
				t.Errorf("%d saves, Ready is %s, %s", saves, status, reason)
			}
			was := newer.DeepCopy()
			was.Status.Conditions, was.ResourceVersion = b.server.lamps[lampKey].Status.Conditions, b.server.lamps[lampKey].ResourceVersion
			if diff := cmp.Diff(was, b.server.lamps[lampKey]); diff != "" {
				t.Errorf("more than Ready was written (-want +got):\n%s", diff)
			}
			if n := metricOf(t, metricUnknown.WithLabelValues("Lamp")) - unknown; n != 1 {
				t.Errorf("counted %v times as unknown", n)
			}
			if n := metricOf(t, metricRefused.WithLabelValues("Lamp")) - refused; n != blindAfter+1 {
				t.Errorf("counted %v", n)
			}
		})
	}
}

func TestRefusalIsTold(t *testing.T) {
	b := newBench(lampMachine())
	newer := b.server.lamps[lampKey].DeepCopy()
	newer.Status.Phase = "Flickering"
	b.server.put(newer)
	if _, err := b.Pass(t.Context(), lampKey); err == nil {
		t.Fatal("not refused")
	}
	want := []string{"get", "observe", `event Warning MoveRefused Step: The manager refuses to act: Lamp: unknown phase "Flickering". Was this object last written by a newer version of the manager?`, "save"}
	if diff := cmp.Diff(want, b.since()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a one-shot ended with stays true, whichever version looks at it.
func TestARefusedOneShotIsNotWritten(t *testing.T) {
	m := lampMachine()
	m.OneShot = true
	b := newBench(m)
	newer := b.server.lamps[lampKey].DeepCopy()
	newer.Status.Phase = "Flickering"
	b.server.put(newer)
	if _, err := b.Pass(t.Context(), lampKey); !errors.Is(err, reconcile.TerminalError(nil)) || slices.Contains(b.since(), "save") {
		t.Error("it is written", err)
	}
}

// A move that the table does not have is a fault; the next decision says again how the object is.
func TestAFaultOfTheMachineIsTold(t *testing.T) {
	b := newBench(lampMachine())
	b.world[off] = fsm.Fire("Nonsense", "Pressed")
	if _, err := b.Pass(t.Context(), lampKey); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Fatal(err)
	}
	if status, reason := b.ready(); status != metav1.ConditionUnknown || reason != "MoveRefused" {
		t.Errorf("Ready is %s, %s", status, reason)
	}
	b.world[off] = fsm.Fire(press, "Pressed")
	b.pass(t)
	if status, _ := b.ready(); status != metav1.ConditionTrue {
		t.Errorf("Ready is %s after a decision", status)
	}
}

func TestAWakeForAnotherShardIsIgnored(t *testing.T) {
	for _, index := range []int{0, 1} {
		b := newBench(lampMachine())
		b.shard = Shard{Index: index, Count: 2}
		result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: lampKey})
		if err != nil {
			t.Fatal(err)
		}
		if worked := len(b.since()) > 0; worked != b.shard.Has(lampKey) || worked != (result.RequeueAfter > 0) {
			t.Errorf("shard %d worked: %v, %+v", index, worked, result)
		}
	}
}

func TestReconcileSaysWhenToLookAgain(t *testing.T) {
	b := newBench(lampMachine())
	request := ctrl.Request{NamespacedName: lampKey}
	for _, c := range []struct {
		what  string
		world fsm.Decision
		want  time.Duration
	}{
		{"moved: at once, which is not 0, for that is never", fsm.Wait("Dark"), soon},
		{"waits for a wake", fsm.Wait("Dark"), 0},
		{"waits for a time", fsm.Wait("Dark").In(time.Minute), time.Minute},
	} {
		b.world[off] = c.world
		result, err := b.Reconcile(t.Context(), request)
		if err != nil || result.RequeueAfter != c.want {
			t.Errorf("%s: %+v, %v", c.what, result, err)
		}
	}
}

func TestThenIsToldWhatWasSaved(t *testing.T) {
	b := newBench(lampMachine())
	b.world[off] = fsm.Fire(press, "Pressed")
	var phases []fsm.Phase
	b.told = func(l *kubetest.Lamp, _ bool) { phases = append(phases, l.Status.Phase) }
	b.pass(t)
	if diff := cmp.Diff([]fsm.Phase{on}, phases); diff != "" {
		t.Error(diff)
	}
	b.AfterPass = nil // it may be
	b.pass(t)
}

func TestNotYetIsNoError(t *testing.T) {
	b := newBench(lampMachine())
	b.blindBy = &read.NotYet{What: "cache", After: time.Second}
	for range blindAfter + 1 {
		if again, err := b.Pass(t.Context(), lampKey); again != time.Second || err != nil {
			t.Fatalf("again %s: %v", again, err)
		}
	}
	for _, did := range b.since() {
		if did != "get" && did != "observe" {
			t.Errorf("did %q", did)
		}
	}
}
