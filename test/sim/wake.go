package sim

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

// tells says that a wake hears of a change, and how the object looks to it: as the type that is
// watched, or as the metadata that an optional watch keeps.
func tells(w kube.Wake, change Change, scheme *runtime.Scheme) (of func(*unstructured.Unstructured) client.Object, is bool) {
	as := func(empty func() client.Object) func(*unstructured.Unstructured) client.Object {
		return func(u *unstructured.Unstructured) client.Object {
			if u == nil {
				return nil
			}
			obj := empty()
			if err := fill(obj, u); err != nil {
				panic(err) // what the API server answered does not fit the type
			}
			return obj
		}
	}
	if w.Of != nil {
		gvk, err := apiutil.GVKForObject(w.Of, scheme)
		return as(func() client.Object { return w.Of.DeepCopyObject().(client.Object) }), err == nil && gvk == change.GroupVersionKind
	}
	heard := w.Optional != nil && (len(w.Optional) == 0 || slices.Contains(w.Optional, change.GroupVersionKind))
	return as(func() client.Object { return &metav1.PartialObjectMetadata{} }), heard
}

// quiet reads the cache of a process without a call that a fault could strike: handlers of
// events read it in memory.
type quiet struct{ *Cell }

// Get implements client.Reader.
func (q quiet) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, q.run.lab.scheme)
	if err != nil {
		return err
	}
	is := q.recall(Ref{gvk, key})
	if is == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	return q.run.show(obj, is)
}

// List implements client.Reader.
func (q quiet) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, options, err := q.listed(list, opts)
	if err != nil {
		return err
	}
	items, err := q.recallAll(gvk, options)
	if err != nil {
		return err
	}
	return apimeta.SetList(list, items)
}

// shows is an object as the watch of a wake shows it: nil if it is not among those that the area
// caches. An optional watch shows all.
func (c *Cell) shows(w kube.Wake, obj *unstructured.Unstructured) *unstructured.Unstructured {
	if obj == nil || w.Of == nil || c.caches == nil || c.caches.Shows(obj) {
		return obj
	}
	return nil
}

// indexed says that an object is in the index that a list asks for, if it asks for one.
func (c *Cell) indexed(gvk schema.GroupVersionKind, obj runtime.Object, o *client.ListOptions) bool {
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return true
	}
	for _, want := range o.FieldSelector.Requirements() {
		has := slices.ContainsFunc(c.indexes, func(i kube.Index) bool {
			of, err := apiutil.GVKForObject(i.Of, c.run.lab.scheme)
			return err == nil && of == gvk && i.Name == want.Field && slices.Contains(i.Values(obj.(client.Object)), want.Value)
		})
		if !has {
			return false
		}
	}
	return true
}
