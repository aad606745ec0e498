package sim

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// get reads an object from the process's cache: what the API server has, or what
// it had when the cache stopped.
func (c *Cell) get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	r := c.run
	return c.cross(ctx, op{site: "get " + r.kind(obj), kind: cachedRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		gvk, err := apiutil.GVKForObject(obj, r.lab.scheme)
		if err != nil {
			return nil, err
		}
		ref := Ref{gvk, key}
		if is, old := c.recall(ref); old {
			if is == nil {
				return nil, apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
			}
			return nil, fill(obj, is)
		}
		err = r.lab.actor.Get(ctx, key, obj, opts...)
		if err == nil {
			obj.SetManagedFields(nil)
		}
		return nil, r.saw(ref, obj, err)
	}})
}

// recall is what a cache that lags shows of an object; old is false if it does not
// lag, or knows nothing of the object.
func (c *Cell) recall(ref Ref) (is *unstructured.Unstructured, old bool) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	moment, lags := c.lags(ref.GroupVersionKind)
	if !lags {
		return nil, false
	}
	return c.run.record.asOf(ref, moment)
}

// saw notes what a read showed: garbage collection and other controllers of the
// cluster write, too.
func (r *run) saw(ref Ref, obj client.Object, err error) error {
	if _, meta := obj.(*metav1.PartialObjectMetadata); meta {
		return err
	}
	switch {
	case apierrors.IsNotFound(err):
		r.changed(ref, nil, nil)
	case err == nil:
		is, err := toUnstructured(obj, r.lab.scheme)
		if err != nil {
			return err
		}
		r.changed(ref, is, nil)
	}
	return err
}

// list reads objects from the process's cache.
func (c *Cell) list(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r := c.run
	return c.cross(ctx, op{site: "list " + r.kind(list), kind: cachedRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		if err := r.lab.actor.List(ctx, list, opts...); err != nil {
			return nil, err
		}
		var items []runtime.Object
		err := apimeta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(client.Object)
			obj.SetManagedFields(nil)
			ref, err := r.refOf(obj)
			if err != nil {
				return err
			}
			items = append(items, obj)
			return r.saw(ref, obj, nil)
		})
		if err != nil {
			return nil, fmt.Errorf("read list: %w", err)
		}
		return nil, c.recallList(list, items, opts)
	}})
}

// recallList makes a list what a cache that lags shows.
func (c *Cell) recallList(list client.ObjectList, items []runtime.Object, opts []client.ListOption) error {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	gvk, err := apiutil.GVKForObject(list, c.run.lab.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	moment, lags := c.lags(gvk)
	if !lags {
		return nil
	}
	var options client.ListOptions
	options.ApplyOptions(opts)
	var then []runtime.Object
	for _, item := range items { // what the record does not know is as it is
		obj := item.(client.Object)
		if _, known := c.run.record.asOf(Ref{gvk, client.ObjectKeyFromObject(obj)}, moment); !known {
			then = append(then, item)
		}
	}
	for ref := range c.run.record.byRef {
		was, _ := c.run.record.asOf(ref, moment)
		if ref.GroupVersionKind != gvk || was == nil || !selected(was, &options) {
			continue
		}
		obj, err := c.run.lab.scheme.New(gvk)
		if err != nil {
			obj = &unstructured.Unstructured{}
		}
		if err := fill(obj.(client.Object), was); err != nil {
			return err
		}
		then = append(then, obj)
	}
	return apimeta.SetList(list, then)
}

func selected(obj *unstructured.Unstructured, o *client.ListOptions) bool {
	return (o.Namespace == "" || o.Namespace == obj.GetNamespace()) &&
		(o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(obj.GetLabels())))
}

// live reads past the cache.
type live struct{ *Cell }

// Get implements client.Reader.
func (l live) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return l.cross(ctx, op{site: "live get " + l.run.kind(obj), kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		return nil, l.run.lab.actor.Get(ctx, key, obj, opts...)
	}})
}

// List implements client.Reader.
func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return l.cross(ctx, op{site: "live list " + l.run.kind(list), kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		return nil, l.run.lab.actor.List(ctx, list, opts...)
	}})
}
