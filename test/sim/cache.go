package sim

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// The cache of a process is the record of what was written, as far as it has got.
// Only what the record knows nothing of is read from the API server, once. Others
// that write, such as controllers of the cluster, are seen by World.Sync.

// get reads an object from the process's cache.
func (c *Cell) get(ctx context.Context, key client.ObjectKey, obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, c.run.lab.scheme)
	if err != nil {
		return err
	}
	if err := c.declared(obj); err != nil {
		return err
	}
	return c.cross(ctx, op{site: "get " + gvk.Kind, kind: cachedRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		ref := Ref{gvk, key}
		if err := c.run.learn(ctx, ref); err != nil {
			return nil, err
		}
		is := c.recall(ref)
		if is == nil {
			return nil, apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
		}
		return nil, c.run.show(obj, is)
	}})
}

// recall is what the cache shows of an object.
func (c *Cell) recall(ref Ref) *unstructured.Unstructured {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	moment, _ := c.lags(ref.GroupVersionKind)
	is := c.run.record.asOf(ref, moment)
	if is == nil || c.caches != nil && !c.caches.Shows(is) {
		return nil
	}
	return is
}

// declared says that the area caches a kind.
func (c *Cell) declared(obj runtime.Object) error {
	if c.caches == nil {
		return nil
	}
	return c.caches.Check(obj)
}

// learn reads an object that the record knows nothing of.
func (r *run) learn(ctx context.Context, ref Ref) error {
	r.mu.Lock()
	known := r.record.knows(ref)
	r.mu.Unlock()
	if known {
		return nil
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(ref.GroupVersionKind)
	err := r.lab.actor.Get(ctx, ref.Key, obj)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		obj = nil
	} else {
		obj.SetManagedFields(nil)
	}
	r.record.found(ref, obj)
	return nil
}

// list reads objects from the process's cache.
func (c *Cell) list(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, options, err := c.listed(list, opts)
	if err != nil {
		return err
	}
	if err := c.declared(list); err != nil {
		return err
	}
	return c.cross(ctx, op{site: "list " + gvk.Kind, kind: cachedRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		if err := c.run.learnAll(ctx, gvk, options.Namespace); err != nil {
			return nil, err
		}
		items, err := c.recallAll(gvk, options)
		if err != nil {
			return nil, err
		}
		return nil, apimeta.SetList(list, items)
	}})
}

// listed is what a list asks for.
func (c *Cell) listed(list client.ObjectList, opts []client.ListOption) (schema.GroupVersionKind, *client.ListOptions, error) {
	gvk, err := apiutil.GVKForObject(list, c.run.lab.scheme)
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	options := &client.ListOptions{}
	options.ApplyOptions(opts)
	return gvk, options, err
}

// learnAll lists a kind, if that was never done.
func (r *run) learnAll(ctx context.Context, gvk schema.GroupVersionKind, namespace string) error {
	what := Ref{GroupVersionKind: gvk}
	what.Namespace = namespace
	r.mu.Lock()
	known := r.listed[what]
	r.mu.Unlock()
	if known {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	if err := r.lab.actor.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list %s: %w", gvk.Kind, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range list.Items {
		obj := &list.Items[i]
		obj.SetManagedFields(nil)
		r.record.found(Ref{gvk, client.ObjectKeyFromObject(obj)}, obj)
	}
	r.listed[what] = true
	return nil
}

// recallAll is what the cache shows of a kind, in the order of names.
func (c *Cell) recallAll(gvk schema.GroupVersionKind, o *client.ListOptions) (items []runtime.Object, err error) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	moment, _ := c.lags(gvk)
	for _, ref := range c.run.record.kind(gvk, moment) {
		is := c.run.record.asOf(ref, moment)
		if !selected(is, o) || c.caches != nil && !c.caches.Shows(is) {
			continue
		}
		shown, err := c.run.shown(is)
		if err != nil {
			return nil, err
		}
		if c.indexed(gvk, shown, o) {
			items = append(items, shown.DeepCopyObject())
		}
	}
	return items, nil
}

// show fills in obj from a version in the record.
func (r *run) show(obj client.Object, is *unstructured.Unstructured) error {
	r.mu.Lock()
	shown, err := r.shown(is)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if reflect.TypeOf(shown) != reflect.TypeOf(obj) { // metadata alone, say
		return fill(obj, is)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(shown.DeepCopyObject()).Elem())
	return nil
}

// shown is a version in the record as a typed object, converted once: controllers
// read the same again and again. The run is locked.
func (r *run) shown(is *unstructured.Unstructured) (runtime.Object, error) {
	if obj := r.typed[is]; obj != nil {
		return obj, nil
	}
	obj, err := r.lab.scheme.New(is.GroupVersionKind())
	if err != nil {
		obj = &unstructured.Unstructured{} // not a type of ours
	}
	if err := fill(obj.(client.Object), is); err != nil {
		return nil, err
	}
	r.typed[is] = obj
	return obj, nil
}

func selected(obj *unstructured.Unstructured, o *client.ListOptions) bool {
	return (o.Namespace == "" || o.Namespace == obj.GetNamespace()) &&
		(o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(obj.GetLabels())))
}
