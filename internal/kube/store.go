package kube

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Store is where the objects of a kind, and how far they are, are kept.
type Store[T any] interface {
	// Get reads an object; found is false when it is gone. It is never older than the one that
	// was last saved.
	Get(ctx context.Context, key read.Key) (obj T, found bool, err error)
	// Save keeps how far next is, if the stored object still is was; else it is a conflict.
	Save(ctx context.Context, was, next T) error
	// Current says, from a live read, that obj is the stored object in its last version.
	Current(ctx context.Context, obj T) (bool, error)
	// Wrote says that an event about obj tells nothing that this Store has not written.
	Wrote(obj client.Object) bool
	// Watched is the kind whose events are about the objects of the Store; nil if there is none.
	Watched() client.Object
}

// StatusStore keeps how far an object is in its status. It is the only writer of status.
//
// It never hands out an object older than the one it last saved: the cache is a
// moment behind, and a pass over the old phase would repeat every effect of it.
type StatusStore[T copied[T]] struct {
	client client.Client
	live   client.Reader

	mu     sync.Mutex
	saving map[read.Key]*saving[T] // what is being saved just now
	saved  map[read.Key]T          // what we saved and the cache has not shown yet
}

// copied is all that the Store itself needs of an object.
type copied[T any] interface {
	client.Object
	DeepCopy() T
}

type saving[T any] struct {
	next  T
	shown client.Object // the cache showed this meanwhile; its news may come before our answer
}

// NewStore makes a store over a client whose reads are cached, and one whose reads are live.
func NewStore[T copied[T]](c client.Client, live client.Reader) *StatusStore[T] {
	return &StatusStore[T]{client: c, live: live, saving: map[read.Key]*saving[T]{}, saved: map[read.Key]T{}}
}

// Get reads an object; found is false when it is gone.
func (s *StatusStore[T]) Get(ctx context.Context, key read.Key) (obj T, found bool, err error) {
	obj = newOf[T]()
	if err := s.client.Get(ctx, key, obj); apierrors.IsNotFound(err) {
		s.forget(key)
		return obj, false, nil
	} else if err != nil {
		return obj, false, fmt.Errorf("get %s: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, has := s.saved[key]
	switch {
	case !has:
	case mine.GetUID() == obj.GetUID() && older(obj, mine):
		return mine.DeepCopy(), true, nil
	case mine.GetResourceVersion() != obj.GetResourceVersion():
		delete(s.saved, key) // else its event is yet to come: see Wrote
	}
	return obj, true, nil
}

// Save writes the status of next as one merge patch over was. The resourceVersion
// is a precondition: what was decided about another version is not saved.
func (s *StatusStore[T]) Save(ctx context.Context, was, next T) error {
	patch := client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})
	out, now := next.DeepCopy(), &saving[T]{next: next}
	s.mu.Lock()
	s.saving[keyOf(was)] = now
	s.mu.Unlock()
	err := s.client.Status().Patch(ctx, out, patch)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.saving, keyOf(was))
	if err != nil {
		return fmt.Errorf("save status of %s: %w", keyOf(was), err)
	}
	out.SetManagedFields(nil) // as in the cache
	if unchanged := out.GetResourceVersion() == was.GetResourceVersion(); !unchanged && (now.shown == nil || older(now.shown, out)) {
		s.saved[keyOf(out)] = out
	}
	return nil
}

// Current implements Store.
func (s *StatusStore[T]) Current(ctx context.Context, obj T) (bool, error) {
	there := newOf[T]()
	err := s.live.Get(ctx, keyOf(obj), there)
	switch {
	case read.SaysGone(err, obj.GetName()):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s live: %w", keyOf(obj), err)
	}
	return there.GetUID() == obj.GetUID() && there.GetResourceVersion() == obj.GetResourceVersion(), nil
}

// Wrote says that obj, which the cache just showed, tells us nothing: it is what
// we saved last or are saving now, or older. A save is made over all that is older,
// or it conflicts, and then the object is looked at again. When the cache has
// caught up the copy is not kept any longer.
func (s *StatusStore[T]) Wrote(obj client.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.saving[keyOf(obj)]; now != nil {
		now.shown = obj
		return sameButVersion(obj, now.next)
	}
	mine, has := s.saved[keyOf(obj)]
	if !has || mine.GetUID() != obj.GetUID() {
		return false
	}
	if older(obj, mine) {
		return true
	}
	delete(s.saved, keyOf(obj))
	return mine.GetResourceVersion() == obj.GetResourceVersion()
}

// Watched implements Store.
func (s *StatusStore[T]) Watched() client.Object { return newOf[T]() }

// sameButVersion says that b is a with another resourceVersion.
func sameButVersion(a, b client.Object) bool {
	c := a.DeepCopyObject().(client.Object)
	c.SetResourceVersion(b.GetResourceVersion())
	c.SetManagedFields(b.GetManagedFields())
	c.GetObjectKind().SetGroupVersionKind(b.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(c, b)
}

func (s *StatusStore[T]) forget(key read.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.saved, key)
}

func older(a, b client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}

// newOf makes an empty T, which is a pointer.
func newOf[T client.Object]() T {
	var t T
	return reflect.New(reflect.TypeOf(t).Elem()).Interface().(T)
}
