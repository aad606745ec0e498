package kube

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Wake is how one wake of a machine finds the objects that it wakes. The manager makes its
// watches of it, and the simulation asks it about every change, so that the two agree.
type Wake struct {
	Name string // as in the machine's table
	// Of is the watched kind, or its metadata alone.
	Of client.Object
	// Optional are watched kinds that may be missing: an OptionalWatch tells of them, by Waker.
	// An empty list, not nil, is whatever kinds users name.
	Optional []schema.GroupVersionKind
	// Find names the objects that a change of obj wakes. It reads the cache by an index, never
	// by a list of all.
	Find func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key
	// Silent leaves out that an object was made: whoever made it is about to look anyway.
	Silent bool
	// Waker is of a worker or a sampler, which name the object themselves.
	Waker *Waker
}

// Keys are the objects that a change wakes: of what was, and of what is. Either is nil if
// the object was made or is gone.
func (w Wake) Keys(ctx context.Context, cached read.Reader, was, is client.Object) (keys []read.Key) {
	if was == nil && w.Silent {
		return nil
	}
	for _, obj := range []client.Object{was, is} {
		if obj == nil {
			continue
		}
		for _, key := range w.Find(ctx, cached, obj) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// Reserved wakes those that may wait for a target, when its Lease changes. That its holder
// has ended no event tells; who waits looks by itself (see reserve.Wake).
func Reserved(find func(ctx context.Context, cached read.Reader, target reserve.Ref) []read.Key) Wake {
	return Wake{Name: reserve.Wake.Name, Of: &coordinationv1.Lease{}, Find: func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
		target, err := reserve.ParseRef(obj.GetAnnotations()[reservationTarget])
		if err != nil {
			return nil // a Lease of somebody else
		}
		return find(ctx, cached, target)
	}}
}

// Child wakes the owner that controls a child which was changed or removed, by the wake "children". That
// one was made is no news: the owner's controller made it and is about to look.
func Child(kind client.Object, owner schema.GroupVersionKind) Wake {
	return Wake{Name: "children", Of: kind, Silent: true, Find: func(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
		ref := metav1.GetControllerOf(obj)
		if ref == nil || schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind) != owner {
			return nil
		}
		return []read.Key{{Namespace: obj.GetNamespace(), Name: ref.Name}}
	}}
}

// CheckWakes says whether a machine's wakes are all set up, and nothing else is.
func CheckWakes(declared []fsm.Wake, made []Wake) error {
	for _, d := range declared {
		has := slices.ContainsFunc(made, func(w Wake) bool { return w.Name == d.Name })
		if needs := d.By != fsm.ByTimer; needs != has {
			return fmt.Errorf("wake %s by %s: set up %t", d.Name, d.By, has)
		}
	}
	for _, w := range made {
		if !slices.ContainsFunc(declared, func(d fsm.Wake) bool { return d.Name == w.Name }) {
			return fmt.Errorf("wake %s is not in the machine's table", w.Name)
		}
		if watched := w.Of != nil || w.Optional != nil; watched != (w.Find != nil) || w.Of == nil && w.Waker == nil {
			return fmt.Errorf("wake %s needs a watch and a way to find objects, or a waker", w.Name)
		}
	}
	return nil
}

// sources are what a wake needs of the manager: a watch, or its waker.
func (w Wake) sources(a *Area) ([]source.Source, error) {
	switch {
	case w.Waker != nil:
		return []source.Source{w.Waker}, nil
	case w.Of == nil: // an OptionalWatch tells
		return nil, nil
	}
	cached := a.Env.Cached()
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(ctx context.Context, q queue, was, is client.Object) {
		for _, key := range w.Keys(ctx, cached, was, is) {
			q.Add(reconcile.Request{NamespacedName: key})
		}
	}
	changes, err := a.Watch(w.Of, handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { add(ctx, q, nil, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { add(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { add(ctx, q, e.Object, nil) },
	})
	if err != nil {
		return nil, fmt.Errorf("wake %s: %w", w.Name, err)
	}
	return []source.Source{changes}, nil
}

// Tell is an OptionalWatch's way to wakes: it wakes, through a waker, what they find.
func Tell(cached read.Reader, waker *Waker, wakes ...Wake) func(schema.GroupVersionKind, *metav1.PartialObjectMetadata) {
	return func(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) {
		for _, w := range wakes {
			if w.Optional == nil || len(w.Optional) > 0 && !slices.Contains(w.Optional, gvk) {
				continue
			}
			for _, key := range w.Find(context.Background(), cached, obj) {
				waker.Wake(key)
			}
		}
	}
}

// Index is a list of values by which objects of a kind are found in the cache.
type Index struct {
	Of     client.Object
	Name   string
	Values func(client.Object) []string
}

// Index makes indexes, before anything reads by them.
func (a *Area) Index(all ...Index) error {
	for _, i := range all {
		if err := a.mgr.GetFieldIndexer().IndexField(context.Background(), i.Of, i.Name, i.Values); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.Of, i.Name, err)
		}
	}
	return nil
}
