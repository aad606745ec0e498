package kube

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

type (
	// world simply is the decisions to take, by phase.
	world  map[fsm.Phase]fsm.Decision
	input  = fsm.Input[*kubetest.Lamp, world]
	lane   = fsm.LaneInput[*kubetest.Lamp, world]
	effect string
)

func (e effect) String() string { return string(e) }

const (
	off, on fsm.Phase = "Off", "On"
	press   fsm.Event = "Press"
	lit     fsm.Phase = "Lit" // of the bulb
)

func lampMachine() *fsm.Machine[*kubetest.Lamp, world] {
	decide := func(in input) fsm.Decision { return in.World[in.Obj.Status.Phase] }
	return &fsm.Machine[*kubetest.Lamp, world]{Kind: "Lamp", Rules: fsm.Rules[input]{
		Start: off,
		Guards: []fsm.Guard[input]{{On: "Deleted", To: "Going", In: []fsm.Phase{off, on},
			When: func(in input) bool { return in.Obj.DeletionTimestamp != nil }}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			off: {Doc: "Off.", Class: fsm.Working, Decide: decide, On: map[fsm.Event]fsm.Phase{press: on}},
			on:  {Doc: "On.", Class: fsm.Steady, Decide: decide, On: map[fsm.Event]fsm.Phase{press: off}},
			"Going": {Doc: "Going.", Class: fsm.Working, Decide: func(in input) fsm.Decision {
				if d, seen := in.World["Going"]; seen {
					return d
				}
				return fsm.Wait("Deleting", "self")
			}},
		},
	}}
}

// withBulb gives the machine a lane, which decides what the world says of Lit.
func withBulb(m *fsm.Machine[*kubetest.Lamp, world]) *fsm.Machine[*kubetest.Lamp, world] {
	m.Lanes = &fsm.Lanes[*kubetest.Lamp, world]{
		In:   []fsm.Phase{on},
		Want: func(input) []string { return []string{"bulb"} },
		At:   func(l *kubetest.Lamp, _ string) *meta.Place { return &l.Status.Bulb },
		Rules: fsm.Rules[lane]{Start: lit, Phases: map[fsm.Phase]fsm.Rule[lane]{
			lit: {Doc: "Lit.", Class: fsm.Working, Decide: func(in lane) fsm.Decision { return in.World[lit] }},
		}},
	}
	return m
}

// bench is a lamp, its reconciler, and everything that was done, in order.
type bench struct {
	*Reconciler[*kubetest.Lamp, world]
	server  *server
	mu      sync.Mutex
	log     []string
	world   world
	blindBy error                 // what Observe returns
	fails   map[effect]error      // what Act returns
	acts    func(context.Context) // what Act does before
	sees    func(*kubetest.Lamp)  // called by Observe
	told    func(*kubetest.Lamp, bool)
}

var lampKey = read.Key{Namespace: "room", Name: "lamp"}

func newBench(m *fsm.Machine[*kubetest.Lamp, world]) *bench {
	b := &bench{world: world{off: fsm.Wait("Dark"), on: fsm.Wait("Bright")}, fails: map[effect]error{}}
	b.server = &server{lamps: map[read.Key]*kubetest.Lamp{}, did: b.did}
	b.server.put(&kubetest.Lamp{ObjectMeta: metav1.ObjectMeta{Namespace: lampKey.Namespace, Name: lampKey.Name, UID: "lamp-uid", Generation: 1}})
	b.Reconciler = NewReconciler(Env{Client: b.server, Live: live{b.server}, Now: time.Now, Events: recorder(b.did)}, m)
	b.Observe = func(_ context.Context, l *kubetest.Lamp) (world, error) {
		b.did("observe")
		if b.sees != nil {
			b.sees(l)
		}
		return b.world, b.blindBy
	}
	b.Act = func(ctx context.Context, _ *kubetest.Lamp, e fsm.Effect) (string, error) {
		b.did("act " + e.String())
		if b.acts != nil {
			b.acts(ctx)
		}
		return "", b.fails[effect(e.String())]
	}
	b.AfterPass = func(_ read.Key, l *kubetest.Lamp, found bool) {
		b.did(fmt.Sprintf("then found=%v", found))
		if b.told != nil {
			b.told(l, found)
		}
	}
	return b
}

// saved is what the store keeps because the cache has not shown it yet.
func (b *bench) saved() map[read.Key]*kubetest.Lamp {
	return b.Store.(*StatusStore[*kubetest.Lamp]).saved
}

func (b *bench) did(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, what)
}

// pass runs one and returns what was done in it.
func (b *bench) pass(t *testing.T) []string {
	t.Helper()
	if _, err := b.Pass(t.Context(), lampKey); err != nil {
		t.Fatal(err)
	}
	return b.since()
}

// since is what was done since it was last asked.
func (b *bench) since() []string {
	log := b.log
	b.log = nil
	return log
}

// server is all of an API server, and of a cache that lags behind it, that a pass needs.
type server struct {
	client.Client // nil: whatever else is called, panics
	lamps         map[read.Key]*kubetest.Lamp
	cached        map[read.Key]*kubetest.Lamp // nil: the cache is up to date
	version       int
	refuses       error  // what a save is answered with
	answers       func() // called before a save is answered
	idle          bool   // saves are answered but change nothing
	did           func(string)
}

func (s *server) put(l *kubetest.Lamp) {
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	s.lamps[keyOf(l)] = l
}

// lag makes the cache show what is there now, whatever comes.
func (s *server) lag() {
	s.cached = map[read.Key]*kubetest.Lamp{}
	for key, l := range s.lamps {
		s.cached[key] = l.DeepCopy()
	}
}

func (s *server) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	s.did("get")
	from := s.lamps
	if s.cached != nil {
		from = s.cached
	}
	l, has := from[key]
	if !has {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "lamps"}, key.Name)
	}
	*obj.(*kubetest.Lamp) = *l.DeepCopy()
	return nil
}

// RESTMapper and Scheme are asked for when a reconciler is built.
func (s *server) RESTMapper() apimeta.RESTMapper { return nil }

func (s *server) Scheme() *runtime.Scheme { return runtime.NewScheme() }

// live reads past the cache.
type live struct{ *server }

func (s live) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	s.did("get live")
	l, has := s.lamps[key]
	if !has {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "lamps"}, key.Name)
	}
	*obj.(*kubetest.Lamp) = *l.DeepCopy()
	return nil
}

func (s *server) Status() client.SubResourceWriter { return statusWriter{server: s} }

type statusWriter struct {
	client.SubResourceWriter
	*server
}

func (s statusWriter) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.did("save")
	next := obj.(*kubetest.Lamp)
	is, has := s.lamps[keyOf(next)]
	switch {
	case s.refuses != nil:
		return s.refuses
	case !has:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "lamps"}, next.Name)
	case is.ResourceVersion != next.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Resource: "lamps"}, next.Name, fmt.Errorf("modified"))
	}
	if !s.idle {
		s.put(next)
	}
	*next = *s.lamps[keyOf(next)].DeepCopy()
	if s.answers != nil {
		s.answers()
	}
	return nil
}

// recorder writes events into the log.
type recorder func(string)

//nolint:revive // the interface is client-go's
func (r recorder) Eventf(_, _ runtime.Object, kind, reason, action, note string, args ...any) {
	r(fmt.Sprintf("event %s %s %s: %s", kind, reason, action, fmt.Sprintf(note, args...)))
}
