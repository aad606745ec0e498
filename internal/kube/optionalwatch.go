package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// OptionalWatch watches kinds that may not be installed, may be forbidden, or may
// be removed at any time: kinds of other areas, and kinds that users name. It
// keeps names and UIDs only, one informer per kind, which ends when it is no
// longer wanted. What it cannot see it says so: read.SightUnknown, never absent.
type OptionalWatch struct {
	client  metadata.Interface
	mapper  apimeta.RESTMapper
	changed func(schema.GroupVersionKind, *metav1.PartialObjectMetadata)
	updates bool // changed is told of updates, too

	mu       sync.Mutex
	ctx      context.Context
	watches  map[schema.GroupVersionKind]*optional
	unserved map[schema.GroupVersionKind]time.Time // until when it is not asked again whether they are
}

// askAgain is how long a kind is taken for not served: to ask is a request, and
// there may be many objects that wait for the kind.
const askAgain = 5 * time.Second

type optional struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	broken   error // the last list or watch failed for a reason that lasts
}

// NewOptionalWatch makes a watch that tells changed of every object that came or went, or
// that another replaced under its name.
func NewOptionalWatch(c metadata.Interface, m apimeta.RESTMapper, changed func(schema.GroupVersionKind, *metav1.PartialObjectMetadata)) *OptionalWatch {
	return &OptionalWatch{
		client: c, mapper: m, changed: changed,
		watches: map[schema.GroupVersionKind]*optional{}, unserved: map[schema.GroupVersionKind]time.Time{},
	}
}

// TellUpdates makes the watch tell of updates as well: for who waits for what another writes
// into an object. It is called before Start.
func (o *OptionalWatch) TellUpdates() *OptionalWatch {
	o.updates = true
	return o
}

// Start keeps watches running until ctx ends. Before it, nothing is watched.
func (o *OptionalWatch) Start(ctx context.Context) error {
	o.mu.Lock()
	o.ctx = ctx
	o.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Look implements read.Watch: what the watch knows of an object. The first look
// at a kind starts its watch.
func (o *OptionalWatch) Look(gvk schema.GroupVersionKind, key read.Key) (*metav1.PartialObjectMetadata, read.Sight) {
	w, err := o.watch(gvk)
	if err != nil {
		return nil, read.SightUnknown
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case w.broken != nil:
		return nil, read.SightUnknown
	case !w.informer.HasSynced():
		return nil, read.SightNotYet
	}
	item, here, err := w.informer.GetStore().GetByKey(storeKey(key))
	if err != nil || !here {
		return nil, read.SightAbsent
	}
	return item.(*metav1.PartialObjectMetadata), read.SightHere
}

// watch finds the watch of a kind, or begins it.
func (o *OptionalWatch) watch(gvk schema.GroupVersionKind) (*optional, error) {
	o.mu.Lock()
	w, started, until := o.watches[gvk], o.ctx != nil, o.unserved[gvk]
	o.mu.Unlock()
	switch {
	case w != nil:
		return w, nil
	case !started:
		return nil, fmt.Errorf("watch %s: not started", gvk.Kind)
	case time.Now().Before(until):
		return nil, fmt.Errorf("watch %s: not served a moment ago", gvk.Kind)
	}
	// A request, as a rule: nobody else waits for it.
	mapping, err := o.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.unserved[gvk] = time.Now().Add(askAgain)
		return nil, fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	delete(o.unserved, gvk)
	if w := o.watches[gvk]; w != nil {
		return w, nil
	}
	return o.begin(gvk, mapping.Resource)
}

// Keep ends the watches of all kinds but these.
func (o *OptionalWatch) Keep(wanted func(schema.GroupVersionKind) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for gvk, w := range o.watches {
		if !wanted(gvk) {
			w.stop()
			delete(o.watches, gvk)
		}
	}
	for gvk, until := range o.unserved {
		if !time.Now().Before(until) {
			delete(o.unserved, gvk)
		}
	}
}

func (o *OptionalWatch) begin(gvk schema.GroupVersionKind, resource schema.GroupVersionResource) (*optional, error) {
	w := &optional{}
	w.informer = cache.NewSharedIndexInformer(o.mending(w, resource), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	if err := o.listen(gvk, w); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(o.ctx)
	w.stop = stop
	o.watches[gvk] = w
	go w.informer.RunWithContext(ctx)
	return w, nil
}

// mending lists and watches, and notes when that works again. No event would tell:
// there may be no objects, or none that changed.
func (o *OptionalWatch) mending(w *optional, resource schema.GroupVersionResource) cache.ListerWatcher {
	names := o.client.Resource(resource)
	mended := func(err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if err == nil {
			w.broken = nil
		}
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := names.List(ctx, options)
			mended(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := names.Watch(ctx, options)
			mended(err)
			return events, err
		},
	}, o.client)
}

func (o *OptionalWatch) listen(gvk schema.GroupVersionKind, w *optional) error {
	tell := func(obj any) {
		if gone, is := obj.(cache.DeletedFinalStateUnknown); is {
			obj = gone.Obj
		}
		if m, is := obj.(*metav1.PartialObjectMetadata); is {
			o.changed(gvk, m)
		}
	}
	_, handlerErr := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell, DeleteFunc: tell,
		UpdateFunc: func(was, is any) {
			switch a, b := was.(*metav1.PartialObjectMetadata), is.(*metav1.PartialObjectMetadata); {
			case a.UID != b.UID: // re-created between two events: the same name, another object
				tell(a)
				tell(b)
			case o.updates:
				tell(b)
			}
		},
	})
	transformErr := w.informer.SetTransform(nameAndUID)
	watchErr := w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) {
			w.broken = err
		}
	})
	for _, err := range []error{handlerErr, transformErr, watchErr} {
		if err != nil {
			return fmt.Errorf("watch %s: %w", gvk.Kind, err)
		}
	}
	return nil
}

// nameAndUID is all that is kept of an object.
func nameAndUID(obj any) (any, error) {
	m, is := obj.(*metav1.PartialObjectMetadata)
	if !is {
		return obj, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: m.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID,
		ResourceVersion: m.ResourceVersion, DeletionTimestamp: m.DeletionTimestamp,
	}}, nil
}

func storeKey(key read.Key) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.Namespace + "/" + key.Name
}
