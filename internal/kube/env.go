package kube

import (
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Env is what controllers are built from. The manager makes one over its cache;
// the simulation makes one over a client that fails and a clock that it sets.
type Env struct {
	Client client.Client // writes, and reads from the cache
	Live   client.Reader // reads from the API server
	Now    func() time.Time
	Events events.EventRecorder // nil: none
	// ReservationNamespace is where the Leases of reserved targets are, the same for all areas.
	ReservationNamespace string
	// Namespaces are those that this process looks at; none is all.
	Namespaces []string
	// Shard is the part of the objects that this process works on.
	Shard Shard
	// OneShot says which kinds end for good, written as in read.Ref.
	OneShot func(kind string) bool
}

// Cached is the reader of the cache.
func (e Env) Cached() read.Reader { return e.Client }

// LiveReader is the reader of the API server.
func (e Env) LiveReader() read.Live { return read.Live{Reader: e.Live} }

// Writer is the writer of one controller: its name owns the fields it applies.
func (e Env) Writer(controller string) Writer {
	return Writer{client: e.Client, live: e.LiveReader(), owner: client.FieldOwner("statecraft-" + controller)}
}

// Reservations takes and gives back targets.
func (e Env) Reservations() Reservations {
	oneShot := e.OneShot
	if oneShot == nil {
		oneShot = func(string) bool { return false }
	}
	return Reservations{client: e.Client, Reservations: read.Reservations{
		Live: e.LiveReader(), Namespace: e.ReservationNamespace, Alive: alive(e.LiveReader(), oneShot),
	}}
}

// NewReconciler builds the reconciler of a machine; the caller sets Observe and Act.
func NewReconciler[T Object[T], W any](e Env, m *fsm.Machine[T, W]) *Reconciler[T, W] {
	initCounters(m)
	return &Reconciler[T, W]{
		Machine: m, Store: NewStore[T](e.Client), Trace: NewTrace(m.Kind, e.Events), Now: e.Now, shard: e.Shard,
	}
}
