package sim

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// wrote notes a write that the API server has stored; obj is its answer.
func (r *run) wrote(ctx context.Context, call *Call, verb, subresource string, obj client.Object) error {
	ref, err := r.refOf(obj)
	if err != nil {
		return err
	}
	if call.kind != byUser {
		r.count(ref, verb, subresource)
	}
	var is *unstructured.Unstructured
	if verb == "delete" || verb == "create" && subresource != "" {
		is, err = r.look(ctx, ref, verb == "delete")
	} else {
		is, err = toUnstructured(obj, r.lab.scheme)
	}
	if err != nil {
		return err
	}
	if is != nil && released(is) {
		is = nil
	}
	r.tally(call, verb+subresource, ref, is)
	r.changed(ref, is, call)
	return nil
}

// look reads an object after a deletion, which it outlives if it has finalizers or
// is a pod that has to stop. nil is gone.
func (r *run) look(ctx context.Context, ref Ref, deleted bool) (*unstructured.Unstructured, error) {
	r.mu.Lock()
	was := r.record.latest(ref)
	r.mu.Unlock()
	if deleted && was != nil && len(was.GetFinalizers()) == 0 && ref.Kind != "Pod" {
		return nil, nil // background deletion takes it at once
	}
	is := &unstructured.Unstructured{}
	is.SetGroupVersionKind(ref.GroupVersionKind)
	err := r.lab.admin.Get(ctx, ref.Key, is)
	if apierrors.IsNotFound(err) || err == nil && was != nil && is.GetUID() != was.GetUID() {
		return nil, nil
	}
	is.SetManagedFields(nil)
	return is, err
}

// released says that a write took the last finalizer off an object that is deleted: then it is gone.
func released(obj *unstructured.Unstructured) bool {
	grace := obj.GetDeletionGracePeriodSeconds()
	return obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// tally counts children that a controller made or removed, each once.
func (r *run) tally(call *Call, verb string, ref Ref, is *unstructured.Unstructured) {
	if call.kind == byUser {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.record.latest(ref)
	switch {
	case (verb == "delete" || verb == "create/eviction") && was != nil && was.GetDeletionTimestamp() == nil:
		r.counted("delete", was)
	case (verb == "create" || verb == "apply") && is != nil && (was == nil || was.GetUID() != is.GetUID()):
		r.counted("create", is)
	}
}

func (r *run) counted(verb string, obj *unstructured.Unstructured) {
	role := obj.GetKind()
	if r.play.Role != nil {
		role = r.play.Role(obj)
	}
	if role == "" {
		return
	}
	what := verb + " " + role
	if r.counts[what] == nil {
		r.counts[what] = map[types.UID]bool{}
	}
	r.counts[what][obj.GetUID()] = true
}

// count counts a write as the audit log names it.
func (r *run) count(ref Ref, verb, subresource string) {
	mapping, err := r.lab.actor.RESTMapper().RESTMapping(ref.GroupKind(), ref.Version)
	if err != nil {
		r.diverge("map kind %s: %v", ref.Kind, err)
		return
	}
	if verb == "apply" {
		verb = "patch"
	}
	what := verb + " " + mapping.Resource.Resource
	if ref.Group != "" {
		what += "." + ref.Group
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes[what+subresource]++
}

// kind is the kind of an object, for the name of a boundary.
func (r *run) kind(obj runtime.Object) string {
	gvk, err := apiutil.GVKForObject(obj, r.lab.scheme)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return strings.TrimSuffix(gvk.Kind, "List")
}

// toUnstructured is an object as the record keeps it: a cache has no managed fields.
func toUnstructured(obj client.Object, scheme *runtime.Scheme) (*unstructured.Unstructured, error) {
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return nil, fmt.Errorf("kind of %T: %w", obj, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", gvk.Kind, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	u.SetManagedFields(nil)
	return u, nil
}

// fill makes obj what the record says.
func fill(obj client.Object, from *unstructured.Unstructured) error {
	from = from.DeepCopy()
	if u, is := obj.(*unstructured.Unstructured); is {
		u.Object = from.Object
		return nil
	}
	into := reflect.ValueOf(obj).Elem()
	into.Set(reflect.Zero(into.Type()))
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, obj)
}
