package sim

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// live reads past the cache.
//
// An object of a kind that is the story's own is what was last written of it: the record
// knows, and the API server need not be asked. In the run without faults it is asked all
// the same, and must say so.
type live struct{ *Cell }

// Get implements client.Reader.
func (l live) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, l.run.lab.scheme)
	if err != nil {
		return err
	}
	return l.cross(ctx, op{site: "live get " + gvk.Kind, kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		ref := Ref{gvk, key}
		is, known := l.run.own(ref)
		if !known || l.run.plan.Fault == "" {
			err := l.run.lab.actor.Get(ctx, key, obj, opts...)
			if known {
				l.run.verify(ref, is, obj, err)
			}
			return nil, err
		}
		if is == nil {
			return nil, apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
		}
		return nil, l.run.show(obj, is)
	}})
}

// List implements client.Reader.
func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return l.cross(ctx, op{site: "live list " + l.run.kind(list), kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		return nil, l.run.lab.actor.List(ctx, list, opts...)
	}})
}

// own is an object of the story's own, nil if it does not exist, and whether that is known.
func (r *run) own(ref Ref) (is *unstructured.Unstructured, known bool) {
	if !slices.Contains(r.lab.subject.Own, ref.GroupVersionKind) {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.record.knows(ref) {
		return nil, false
	}
	return r.record.latest(ref), true
}

// verify holds what is believed to be the last version against what the API server says.
func (r *run) verify(ref Ref, is *unstructured.Unstructured, obj client.Object, err error) {
	switch {
	case apierrors.IsNotFound(err):
		if is != nil {
			r.diverge("%s %s is gone: others delete it, so it is not the story's own", ref.Kind, ref.Key)
		}
	case err == nil && (is == nil || is.GetResourceVersion() != obj.GetResourceVersion()):
		r.diverge("%s %s was written by others, so it is not the story's own", ref.Kind, ref.Key)
	}
}
