package sim

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// World is where the story of one plan takes place.
type World struct {
	// Namespace is the plan's own, and a name that objects outside of it may bear.
	Namespace string
	// Client is the user's. What is written through it is told to the controllers.
	Client client.Client

	run *run
}

// Now is the plan's clock.
func (w *World) Now() time.Time { return w.run.now() }

// Find fills in obj, by its name, as it was last written, and says whether it
// exists. It makes no call.
func (w *World) Find(obj client.Object) bool {
	ref, err := w.run.refOf(obj)
	if err != nil {
		panic(err) // a kind that the subject did not register
	}
	w.run.mu.Lock()
	found := w.run.record.latest(ref)
	w.run.mu.Unlock()
	if found == nil {
		return false
	}
	if err := fill(obj, found); err != nil {
		panic(err) // what the API server answered does not fit the type
	}
	return true
}

// Sync tells the controllers what others have written of some kinds in the plan's
// namespace: the cluster's own controllers, garbage collection. It says how much
// was news.
func (w *World) Sync(ctx context.Context, kinds ...schema.GroupVersionKind) (news int, err error) {
	r := w.run
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := r.lab.admin.List(ctx, list, client.InNamespace(w.Namespace)); err != nil {
			return news, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		there := map[Ref]bool{}
		for i := range list.Items {
			obj := &list.Items[i]
			obj.SetManagedFields(nil)
			ref := Ref{kind, client.ObjectKeyFromObject(obj)}
			there[ref] = true
			news += r.changed(ref, obj, nil)
		}
		for _, ref := range w.refs(kind) {
			if ref.Namespace == w.Namespace && !there[ref] {
				news += r.changed(ref, nil, nil)
			}
		}
	}
	return news, nil
}

// All returns the objects of a kind, as they were last written or seen.
func (w *World) All(kind schema.GroupVersionKind) (found []*unstructured.Unstructured) {
	for _, ref := range w.refs(kind) {
		w.run.mu.Lock()
		found = append(found, w.run.record.latest(ref).DeepCopy())
		w.run.mu.Unlock()
	}
	return found
}

// Shown returns the objects of a kind as All does, as the type that controllers read. They
// are shared, and not to be changed.
func (w *World) Shown(kind schema.GroupVersionKind) (found []runtime.Object) {
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range r.record.kind(kind, len(r.record.versions)) {
		obj, err := r.shown(r.record.latest(ref))
		if err != nil {
			panic(err) // what the API server answered does not fit the type
		}
		found = append(found, obj)
	}
	return found
}

func (w *World) refs(kind schema.GroupVersionKind) []Ref {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	return w.run.record.kind(kind, len(w.run.record.versions))
}

// Version counts all that was written or seen: whoever plays others need not look
// again while it stays.
func (w *World) Version() int {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	return len(w.run.record.versions)
}

// Before is told by a story before each call of a program that it plays: somebody may meddle at that moment.
func (w *World) Before(ctx context.Context, site string) {
	if call := w.run.arrive(nil, site, played); call.fault == Meddled {
		w.run.meddle(ctx)
	}
}

// Diverge notes that something happened that must not.
func (w *World) Diverge(format string, args ...any) { w.run.diverge(format, args...) }

// refOf names an object.
func (r *run) refOf(obj client.Object) (Ref, error) {
	gvk, err := apiutil.GVKForObject(obj, r.lab.scheme)
	return Ref{gvk, read.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}}, err
}

// phase is the phase of the main object, as it was last written.
func (r *run) phase() string {
	obj := r.record.latest(r.play.Main)
	if obj == nil {
		return ""
	}
	if r.play.Phase != nil {
		return r.play.Phase(obj)
	}
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	return phase
}
