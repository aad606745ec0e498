package sim

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Cell is one process: controllers, their queue, caches and workers. What is built
// in it ends with it.
type Cell struct {
	run         *run
	client      client.Client
	controllers []Controller
	workers     []worker
	samplers    []Sampler
	indexes     []kube.Index
	caches      *kube.Caches // nil: every kind, all of it

	// Guarded by run.mu.
	queue   queue
	dead    bool // every call is refused
	deposed bool // another leads; it ends with the pass it is in
	begins  bool // the next call is the first of a pass
	resync  time.Time
	lag     *lag
	synced  map[schema.GroupVersionKind]bool // kinds that Watch has begun to watch
	warm    bool                             // it watched all along
}

// Controller is one reconciler of a process, and what wakes it.
type Controller struct {
	reconcile.Reconciler
	// Kind is that of its objects.
	Kind schema.GroupVersionKind
	// Echo says that an update is what the controller itself saved last: Store.Wrote.
	Echo func(client.Object) bool
	// Owns are kinds whose changes wake the object that controls them.
	Owns []schema.GroupVersionKind
	// Wakes are those of the kind, as the manager sets them up.
	Wakes []kube.Wake
	// Woken names the objects that any other change wakes. It may be nil.
	Woken func(Change) []read.Key
}

// Env is what the controllers of the process are built from.
func (c *Cell) Env() kube.Env {
	return kube.Env{Client: c.client, Live: live{c}, Now: c.run.now}
}

// Add adds a controller to the process.
func (c *Cell) Add(controller Controller) { c.controllers = append(c.controllers, controller) }

// Index lets caches be read by indexes.
func (c *Cell) Index(all ...kube.Index) { c.indexes = append(c.indexes, all...) }

// Cache limits caches to what an area declares.
func (c *Cell) Cache(declared ...kube.Cached) {
	caches, err := kube.NewCaches("sim", c.run.lab.scheme, declared...)
	if err != nil {
		panic(err) // the manager would not start
	}
	c.caches = &caches
}

// worker is a kube.Worker, whatever its jobs come to.
type worker interface {
	Drive(context.Context) (ran int)
}

// Work lets the jobs of a worker run, command by command.
func (c *Cell) Work(w worker) { c.workers = append(c.workers, w) }

// Sampler polls a world outside: a kube.Sampler.
type Sampler interface {
	Drive(context.Context) (polled int)
	Next() (at time.Time, waits bool)
}

// Sample lets a sampler poll whenever it is due.
func (c *Cell) Sample(s Sampler) { c.samplers = append(c.samplers, s) }

// Wake has an object looked at: for workers and samplers.
func (c *Cell) Wake(kind schema.GroupVersionKind) func(read.Key) {
	return func(key read.Key) {
		for i := range c.controllers {
			if c.controllers[i].Kind == kind {
				c.wake(item{i, key})
			}
		}
	}
}

func (c *Cell) wake(i item) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.queue.add(i)
}

// wakes are the objects of a controller that a change wakes.
func (t *Controller) wakes(c *Cell, change Change) (keys []read.Key) {
	scheme := c.run.lab.scheme
	if change.GroupVersionKind == t.Kind && !t.echoes(change, scheme) {
		keys = append(keys, change.Key)
	}
	if owner := ownerOf(change); owner != nil && slices.Contains(t.Owns, change.GroupVersionKind) &&
		owner.Kind == t.Kind.Kind && owner.APIVersion == t.Kind.GroupVersion().String() {
		keys = append(keys, read.Key{Namespace: change.Namespace, Name: owner.Name})
	}
	for _, w := range t.Wakes {
		if of, tells := tells(w, change, scheme); tells {
			keys = append(keys, w.Keys(context.Background(), quiet{c}, of(c.shows(w, change.Was)), of(c.shows(w, change.Is)))...)
		}
	}
	if t.Woken != nil {
		keys = append(keys, t.Woken(change)...)
	}
	return keys
}

// echoes says that a change is an update by the controller itself.
func (t *Controller) echoes(change Change, scheme *runtime.Scheme) bool {
	updated := change.Was != nil && change.Is != nil && change.Was.GetUID() == change.Is.GetUID()
	if !updated || t.Echo == nil {
		return false
	}
	obj, err := scheme.New(t.Kind)
	if err != nil {
		return t.Echo(change.Is)
	}
	typed := obj.(client.Object)
	return fill(typed, change.Is) == nil && t.Echo(typed)
}

func ownerOf(change Change) *metav1.OwnerReference {
	if change.Is != nil {
		return metav1.GetControllerOf(change.Is)
	}
	return metav1.GetControllerOf(change.Was)
}

// pass runs one pass in the process.
func (c *Cell) pass(ctx context.Context, i item) {
	r := c.run
	r.mu.Lock()
	c.begins = true
	r.mu.Unlock()
	var result reconcile.Result
	var err error
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				r.diverge("panic in a pass of %s: %v", i.key, cause)
			}
		}()
		result, err = c.controllers[i.controller].Reconcile(ctx, reconcile.Request{NamespacedName: i.key})
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passes++
	c.queue.done(i, r.clock, result, err)
	if c.lag != nil {
		c.lag.passes++
	}
	if c.deposed {
		c.dead = true
	}
}
