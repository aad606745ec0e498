package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Writer makes, keeps and removes children. Only act is handed one.
//
// There are two ways to make a child, and a kind of child uses one of them for
// ever: Create for what is written once, Apply for what is kept in shape. A POST
// and an apply under one field owner would conflict with each other.
type Writer struct {
	client client.Client
	live   read.Live
	owner  client.FieldOwner // one per controller
}

// Seen is a child as it was observed. The zero value is: not seen.
type Seen struct {
	UID             types.UID
	ResourceVersion string
}

// SeenOf is what to remember of an object for a later Delete or Apply.
func SeenOf(obj metav1.Object) Seen {
	return Seen{UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}
}

// Create makes a child that is written once and fills in obj from the answer. If
// the name is taken it reads live: our own child, from a pass that crashed, is
// what we wanted; anybody else's is an error.
func (w Writer) Create(ctx context.Context, obj client.Object) error {
	owner := metav1.GetControllerOf(obj)
	err := w.client.Create(ctx, obj, w.owner)
	if !apierrors.IsAlreadyExists(err) {
		return wrap("create", obj, err)
	}
	there := obj.DeepCopyObject().(client.Object)
	if err := w.live.Get(ctx, keyOf(obj), there); err != nil {
		return wrap("read", obj, err)
	}
	if owner == nil || !OwnedBy(there, owner.UID) {
		return Taken(w.kind(obj), there)
	}
	obj.SetUID(there.GetUID())
	obj.SetResourceVersion(there.GetResourceVersion())
	return nil
}

// Apply keeps a child in shape by server-side apply, never forced. seen is the
// UID of the child that was observed, or "" if none was: apply would otherwise
// merge into a stranger's object of that name without a word.
func (w Writer) Apply(ctx context.Context, obj client.Object, seen types.UID) error {
	if seen == "" {
		var err error
		if seen, err = w.free(ctx, obj); err != nil {
			return err
		}
	}
	u, err := ApplyOf(obj, w.client.Scheme())
	if err != nil {
		return err
	}
	if seen != "" {
		u.SetUID(seen)
	}
	err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner)
	if conflict, is := AsConflict(err); is {
		conflict.Object = w.kind(obj) + " " + obj.GetName()
		return &fsm.Error{Class: fsm.Changed, Err: conflict, Say: conflict.Error()}
	}
	return wrap("apply", obj, err)
}

// free says, from a live read, that the name is free, or returns the UID of our
// own child that the cache has not shown yet.
func (w Writer) free(ctx context.Context, obj client.Object) (types.UID, error) {
	there := obj.DeepCopyObject().(client.Object)
	err := w.live.Get(ctx, keyOf(obj), there)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", wrap("read", obj, err)
	}
	if owner := metav1.GetControllerOf(obj); owner == nil || !OwnedBy(there, owner.UID) {
		return "", Taken(w.kind(obj), there)
	}
	return there.GetUID(), nil
}

// Delete removes the very object that was seen, in the version that was decided
// upon. That it is gone already, or that another has its name, is success: what
// was to go has gone.
func (w Writer) Delete(ctx context.Context, obj client.Object, seen Seen) error {
	if seen.UID == "" || seen.ResourceVersion == "" {
		return &fsm.Error{Class: fsm.Refused, Err: fmt.Errorf("delete %s: not seen before", obj.GetName())}
	}
	err := w.client.Delete(ctx, obj,
		client.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return wrap("delete", obj, err)
}

func (w Writer) kind(obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, w.client.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

func wrap(verb string, obj client.Object, err error) error {
	if err == nil {
		return nil
	}
	return Classify(fmt.Errorf("%s %T %s: %w", verb, obj, keyOf(obj), err))
}
