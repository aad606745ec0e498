package kube

import (
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/child"
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
	// Namespace is the product's own, the same for all areas: elections, reservations and keys are there.
	Namespace string
	// Namespaces are those that this process looks at; none is all.
	Namespaces []string
	// Shard is the part of the objects that this process works on.
	Shard Shard
	// Kinds are those of all areas: a reservation may be held by any.
	Kinds []Kind
}

// Cached is the reader of the cache.
func (e Env) Cached() read.Reader { return e.Client }

// LiveReader is the reader of the API server.
func (e Env) LiveReader() read.Live { return read.Live{Reader: e.Live} }

// Writer is the writer of one controller: its name owns the fields it applies.
func (e Env) Writer(controller string) Writer {
	return Writer{client: e.Client, live: e.LiveReader(), owner: client.FieldOwner(child.Manager(controller))}
}

// Children compares children with what one controller would apply.
func (e Env) Children(controller string, stamp child.Stamp) read.Children {
	return read.Children{Live: e.LiveReader(), Manager: child.Manager(controller), Stamp: stamp}
}

// Reservations takes and gives back targets.
func (e Env) Reservations() Reservations {
	mapper := e.Client.RESTMapper()
	return Reservations{client: e.Client, mapper: mapper, Reservations: read.Reservations{
		Live: e.LiveReader(), Namespace: e.Namespace, Alive: alive(e.LiveReader(), mapper, e.Kinds),
	}}
}

// groupOf is the group of a kind; "" if it is not registered.
func groupOf[T Object[T]](c client.Client) string {
	gvk, err := apiutil.GVKForObject(newOf[T](), c.Scheme())
	if err != nil {
		return ""
	}
	return gvk.Group
}

// NewReconciler builds the reconciler of a machine; the caller sets Observe and Act.
func NewReconciler[T Object[T], W any](e Env, m *fsm.Machine[T, W]) *Reconciler[T, W] {
	initCounters(m)
	return &Reconciler[T, W]{
		Machine: m, Store: NewStore[T](e.Client, e.Live), Trace: NewTrace(m, e.Events), Now: e.Now,
		Limits: DefaultLimits(), shard: e.Shard, reservations: e.Reservations(), group: groupOf[T](e.Client),
	}
}
