package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// The lamp of these tests goes on when it is first seen, is polished once, and
// rests; its wish is copied into its status.
type (
	input  = fsm.Input[*kubetest.Lamp, struct{}]
	polish struct{}
)

func (polish) String() string { return "polish" }

const (
	off fsm.Phase = "Off"
	on  fsm.Phase = "On"
)

func lampMachine() *fsm.Machine[*kubetest.Lamp, struct{}] {
	return &fsm.Machine[*kubetest.Lamp, struct{}]{
		Kind: "Lamp",
		Report: func(out *kubetest.Lamp, in input, _ fsm.Pass) {
			out.Status.Seen = in.Obj.Spec.Wish
		},
		Rules: fsm.Rules[input]{Start: off, Phases: map[fsm.Phase]fsm.Rule[input]{
			off: {
				Doc: "Off.", Class: fsm.Working, On: map[fsm.Event]fsm.Phase{"Press": on},
				Decide: func(input) fsm.Decision { return fsm.Fire("Press", "Pressed") },
			},
			on: {
				Doc: "On.", Class: fsm.Steady, On: map[fsm.Event]fsm.Phase{},
				Decide: func(in input) fsm.Decision {
					if in.Obj.Status.Seen != in.Obj.Spec.Wish {
						return fsm.Do("Polishing", polish{})
					}
					return fsm.Wait("Polishing")
				},
			},
		}},
	}
}

// shop is a manager, in this process, of the lamps of one namespace.
type shop struct {
	testing.TB
	bed       *bed.Bed
	client    client.Client
	namespace string
	user      string
	mu        sync.Mutex
	passes    map[string]int
	effects   map[string]int
}

func openShop(t testing.TB) *shop {
	t.Helper()
	b := lamps(t)
	s := &shop{TB: t, bed: b, client: newClient(t, b.Config()), namespace: bedtest.Namespace(t, b), passes: map[string]int{}, effects: map[string]int{}}
	s.user = "shop-" + s.namespace
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- kube.Run(ctx, b.ConfigFor(s.user, "system:masters"), kube.Options{
			Areas:      []kube.AreaSetup{{Name: "lamps", AddToScheme: kubetest.AddToScheme, Setup: s.setup, Caches: []kube.Cached{{Of: &kubetest.Lamp{}}}}},
			Namespaces: []string{s.namespace}, Namespace: s.namespace,
			Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	return s
}

func (s *shop) setup(a *kube.Area) error {
	r := kube.NewReconciler(a.Env, lampMachine())
	r.Observe = func(_ context.Context, l *kubetest.Lamp) (struct{}, error) {
		s.count(s.passes, l.Name)
		return struct{}{}, nil
	}
	r.Act = func(_ context.Context, l *kubetest.Lamp, _ fsm.Effect) (string, error) {
		s.count(s.effects, l.Name)
		return "", nil
	}
	return kube.Add(a, r)
}

func (s *shop) count(what map[string]int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what[name]++
}

// taken is the sum of counts, which begin anew.
func (s *shop) taken(what map[string]int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer clear(what)
	return sum(what)
}

func sum(what map[string]int) (n int) {
	for _, one := range what {
		n += one
	}
	return n
}

// settled waits until every lamp is on and has seen its wish.
func (s *shop) settled() {
	s.Helper()
	harness.Eventually(s, soon, poll, func() error {
		var all kubetest.LampList
		if err := s.client.List(s.Context(), &all, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for i := range all.Items {
			if l := &all.Items[i]; l.Status.Phase != on || l.Status.Seen != l.Spec.Wish {
				return fmt.Errorf("%s is %q and has seen %q of %q", l.Name, l.Status.Phase, l.Status.Seen, l.Spec.Wish)
			}
		}
		return nil
	})
}

// writes of the manager since a moment, without events.
func (s *shop) writes(since time.Time) map[string]int {
	s.Helper()
	writes, err := s.bed.Writes(since, s.user)
	if err != nil {
		s.Fatal(err)
	}
	counts := bed.CountWrites(writes)
	delete(counts, "create events.events.k8s.io")
	return counts
}

const statusWrites = "patch lamps.test.statecraft.dev/status"

// did compares what the manager has done since with what it should have: passes and
// effects of all lamps, and status writes.
func (s *shop) did(what string, since time.Time, want done) {
	s.Helper()
	s.rests()
	got := done{passes: s.taken(s.passes), effects: s.taken(s.effects), writes: s.writes(since)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(done{})); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

type done struct {
	passes, effects int
	writes          map[string]int
}

// rests waits until no pass has been made for a while.
func (s *shop) rests() {
	s.Helper()
	last := -1
	harness.Eventually(s, soon, restful, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := sum(s.passes)
		if now != last {
			last = now
			return fmt.Errorf("%d passes", now)
		}
		return nil
	})
}

func TestOneStatusWritePerPassThatChangedSomething(t *testing.T) {
	s := openShop(t)
	const count = 60
	began := time.Now()
	for i := range count {
		create(t, s.client, lampOf(s.namespace, fmt.Sprintf("lamp-%d", i)))
	}
	s.settled()
	// Off and On in one write, then a look at what became of it. The event of our
	// own write leads to no third pass.
	s.did("made", began, done{passes: 2 * count, writes: map[string]int{statusWrites: count}})

	began = time.Now()
	s.wish(count, `{"spec":{"wish":"bright"}}`)
	s.settled()
	s.did("wished", began, done{passes: 2 * count, effects: count, writes: map[string]int{statusWrites: count}})

	began = time.Now()
	s.wish(count, `{"metadata":{"annotations":{"nothing":"to do"}}}`)
	s.did("touched", began, done{passes: count, writes: map[string]int{}})
}

func (s *shop) wish(count int, patch string) {
	s.Helper()
	for i := range count {
		l := lampOf(s.namespace, fmt.Sprintf("lamp-%d", i))
		if err := s.client.Patch(s.Context(), l, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			s.Fatal(err)
		}
	}
}

// Events of a lamp, as they are stored: on change only.
func TestEventsTellMovesOnce(t *testing.T) {
	s := openShop(t)
	lamp := create(t, s.client, lampOf(s.namespace, "lamp-0"))
	s.settled()
	s.wish(1, `{"spec":{"wish":"bright"}}`)
	s.settled()
	s.rests()
	want := []string{"Normal Pressed/Press by statecraft-lamps of Lamp lamp-0: On. (Off → On)"}
	harness.Eventually(t, soon, poll, func() error {
		var events eventsv1.EventList
		if err := s.client.List(t.Context(), &events, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		var got []string
		for _, e := range events.Items {
			if e.Regarding.UID == lamp.UID {
				got = append(got, fmt.Sprintf("%s %s/%s by %s of %s %s: %s", e.Type, e.Reason, e.Action, e.ReportingController, e.Regarding.Kind, e.Regarding.Name, e.Note))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

// A cache that is behind shows the lamp before its wish was granted. Without a
// memory of its own the store would have it polished again and again.
func TestAPassOverAStaleCacheRepeatsNothing(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	lamp := lampOf(namespace, "lamp")
	lamp.Spec.Wish = "bright"
	create(t, c, lamp)
	env := envOf(frozen{c, lamp.DeepCopy()}, namespace)
	polished := 0
	r := kube.NewReconciler(env, lampMachine())
	r.Observe = func(context.Context, *kubetest.Lamp) (struct{}, error) { return struct{}{}, nil }
	r.Act = func(context.Context, *kubetest.Lamp, fsm.Effect) (string, error) { polished++; return "", nil }
	for range 5 {
		if _, err := r.Pass(t.Context(), client.ObjectKeyFromObject(lamp)); err != nil {
			t.Fatal(err)
		}
	}
	if get(t, c, lamp); polished != 0 || lamp.Status.Phase != on || lamp.Status.Seen != "bright" {
		t.Errorf("polished %d times, %+v", polished, lamp.Status)
	}
}

// frozen reads a lamp as it once was.
type frozen struct {
	client.Client
	lamp *kubetest.Lamp
}

func (f frozen) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	*obj.(*kubetest.Lamp) = *f.lamp.DeepCopy()
	return nil
}
