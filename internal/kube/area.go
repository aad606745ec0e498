package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	firstRetry   = 200 * time.Millisecond
	longestRetry = 30 * time.Second // the machine's own back-off is in its status; this one is for reads and saves
)

// Area is one area inside the manager process: its own cache, queue and election.
type Area struct {
	Name     string
	Env      Env
	mgr      ctrl.Manager
	caches   Caches
	reserves []schema.GroupKind
	// metricsObjects is how many objects of a kind may have series of their own; 0 is none.
	metricsObjects int
}

// Manager is for setup.go: informers, indexes and clients of the area.
func (a *Area) Manager() ctrl.Manager { return a.mgr }

// Run runs something while this process leads the area.
func (a *Area) Run(start func(context.Context) error) error {
	return a.mgr.Add(manager.RunnableFunc(start))
}

// Add runs a reconciler over the objects of its kind, with the wakes that its machine
// declares.
func Add[T Object[T], W any](a *Area, r *Reconciler[T, W], wakes ...Wake) error {
	if err := r.Machine.Check(); err != nil {
		return fmt.Errorf("check machine: %w", err)
	}
	if err := CheckWakes(r.Machine.Wakes, wakes); err != nil {
		return fmt.Errorf("set up %s: %w", r.Machine.Kind, err)
	}
	c, err := controller.New(r.Machine.Kind, a.mgr, controller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: r.Limits.Workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
		// First come, first served: with priorities the objects of the initial list
		// starve behind those that are always busy.
		UsePriorityQueue:   ptr.To(false),
		SkipNameValidation: ptr.To(true), // one process may run several managers
	})
	if err != nil {
		return fmt.Errorf("make controller of %s: %w", r.Machine.Kind, err)
	}
	sources, err := own(a, r)
	if err != nil {
		return fmt.Errorf("watch %s: %w", r.Machine.Kind, err)
	}
	for _, w := range wakes {
		of, err := w.sources(a)
		if err != nil {
			return fmt.Errorf("watch for %s: %w", r.Machine.Kind, err)
		}
		sources = append(sources, of...)
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for %s: %w", r.Machine.Kind, err)
		}
	}
	return collectObjects(a, r)
}

// own are the events of the objects themselves. Where the API server does not have them,
// nothing but the wakes tells of them.
func own[T Object[T], W any](a *Area, r *Reconciler[T, W]) ([]source.Source, error) {
	kind := r.Store.Watched()
	if kind == nil {
		return nil, nil
	}
	has := func(obj client.Object) bool { return a.Env.Shard.has(obj) && r.concerns(obj) }
	mine := predicate.NewPredicateFuncs(has)
	// The pass that saved has said when it wants to look again; the event of its
	// own save would only repeat it.
	mine.UpdateFunc = func(e event.UpdateEvent) bool { return has(e.ObjectNew) && !r.Store.Wrote(e.ObjectNew) }
	objects, err := a.Watch(kind, &handler.EnqueueRequestForObject{}, mine)
	return []source.Source{objects}, err
}

// Watch is the source of changes of a kind that the area caches. One that it does not cache would
// be looked for until the manager gives up, minutes later.
func (a *Area) Watch(kind client.Object, tells handler.EventHandler, of ...predicate.Predicate) (source.Source, error) {
	if err := a.caches.Check(kind); err != nil {
		return nil, err
	}
	return source.Kind(a.mgr.GetCache(), kind, tells, of...), nil
}
