package kube

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

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

// check refuses a request that is for a version that was not read.
func (s Seen) check(verb string, obj client.Object) error {
	if s.UID == "" || s.ResourceVersion == "" {
		return &fsm.Error{Class: fsm.Refused, Err: fmt.Errorf("%s %s: not seen before", verb, obj.GetName())}
	}
	return nil
}

// Create makes a child that is written once and fills in obj from the answer. If
// the name is taken it reads live: our own child, from a pass that crashed, is
// what we wanted; anybody else's is an error.
func (w Writer) Create(ctx context.Context, obj client.Object) error {
	err := w.client.Create(ctx, obj, w.owner)
	if !apierrors.IsAlreadyExists(err) {
		return wrap("create", obj, err)
	}
	there, err := w.named(ctx, obj)
	if err != nil {
		return wrap("read", obj, err)
	}
	if !sameOwner(there, obj) {
		return Taken(w.kind(obj), there)
	}
	obj.SetUID(there.GetUID())
	obj.SetResourceVersion(there.GetResourceVersion())
	return nil
}

// CreateUnowned makes an object that has no owner and is written once. If the name is taken
// it reads live, into there, and asks whether that one is ours: from a pass that crashed.
func (w Writer) CreateUnowned(ctx context.Context, obj, there client.Object, ours func() bool) error {
	err := w.client.Create(ctx, obj, w.owner)
	if !apierrors.IsAlreadyExists(err) {
		return wrap("create", obj, err)
	}
	if err := w.live.Get(ctx, keyOf(obj), there); err != nil {
		return wrap("read", obj, err)
	}
	if !ours() {
		return Taken(w.kind(obj), there)
	}
	obj.SetUID(there.GetUID())
	obj.SetResourceVersion(there.GetResourceVersion())
	return nil
}

// Delete removes the very object that was seen, in the version that was decided
// upon. That it is gone already, or that another has its name, is success: what
// was to go has gone.
func (w Writer) Delete(ctx context.Context, obj client.Object, seen Seen) error {
	if err := seen.check("delete", obj); err != nil {
		return err
	}
	err := w.client.Delete(ctx, obj,
		client.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if w.wasGone(ctx, obj, seen.UID, err) {
		return nil
	}
	return wrap("delete", obj, err)
}

// wasGone says that a write failed because the very object it was meant for is
// gone. In a conflict, of versions or of UIDs, only a look can tell.
func (w Writer) wasGone(ctx context.Context, obj client.Object, uid types.UID, err error) bool {
	if !apierrors.IsConflict(err) {
		return read.SaysGone(err, obj.GetName())
	}
	there, err := w.named(ctx, obj)
	return read.SaysGone(err, obj.GetName()) || err == nil && there.GetUID() != uid
}

// named reads live who has the name of obj.
func (w Writer) named(ctx context.Context, obj client.Object) (*metav1.PartialObjectMetadata, error) {
	gvk, err := apiutil.GVKForObject(obj, w.client.Scheme())
	if err != nil {
		return nil, err
	}
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(gvk)
	return there, w.live.Get(ctx, keyOf(obj), there)
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
	return classify(fmt.Errorf("%s %T %s: %w", verb, obj, keyOf(obj), err), nameOf(obj))
}

// nameOf is the kind and the name of an object; typed objects seldom say their kind.
func nameOf(obj client.Object) string {
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	return cmp.Or(kind, reflect.Indirect(reflect.ValueOf(obj)).Type().Name()) + " " + obj.GetName()
}
