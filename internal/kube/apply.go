package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Apply keeps a child in shape by server-side apply, which is forced only over what people
// set by hand: two controllers would fight for ever. seen is the
// UID of the child that was observed, or "" if none was: apply would otherwise
// merge into another owner's object of that name without a word.
func (w Writer) Apply(ctx context.Context, obj client.Object, seen types.UID) error {
	if seen == "" {
		var err error
		if seen, err = w.free(ctx, obj); err != nil {
			return err
		}
	}
	return w.apply(ctx, obj, Seen{UID: seen})
}

// Make makes a child by apply, after a live read of the caller's own showed that its name is free.
func (w Writer) Make(ctx context.Context, obj client.Object) error { return w.apply(ctx, obj, Seen{}) }

// ApplyTo is Apply to the very version of a child that was read: what was decided upon its field
// owners holds for no other. If somebody wrote to it since, nothing is written.
func (w Writer) ApplyTo(ctx context.Context, obj client.Object, seen Seen) error {
	if err := seen.check("apply", obj); err != nil {
		return err
	}
	return w.apply(ctx, obj, seen)
}

func (w Writer) apply(ctx context.Context, obj client.Object, seen Seen) error {
	u, err := w.applied(obj, seen)
	if err != nil {
		return err
	}
	err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner)
	if conflict, is := AsConflict(err); is && conflict.ByHand() {
		err = w.overrule(ctx, obj, u)
	}
	if conflict, is := AsConflict(err); is {
		conflict.Object = w.kind(obj) + " " + obj.GetName()
		return &fsm.Error{Class: fsm.Contested, Err: conflict, Reason: ReasonFieldContested, Say: conflict.Error()}
	}
	switch {
	case apierrors.IsInvalid(err):
		return w.explain(ctx, obj, seen.UID, err)
	case err == nil && seen.UID == "":
		return w.made(ctx, u)
	}
	return wrap("apply", obj, err)
}

// overrule applies over what people set by hand. Force would run over whoever writes meanwhile, a controller too, so it is for the
// version of which the API server said that only people own the fields. What was not seen before is not ours, or is not known
// well enough to be forced.
func (w Writer) overrule(ctx context.Context, obj client.Object, u *unstructured.Unstructured) error {
	if u.GetUID() == "" || u.GetResourceVersion() == "" {
		there, err := w.named(ctx, obj)
		switch {
		case err != nil:
			return err
		case there.GetUID() == u.GetUID():
		case !sameOwner(there, obj):
			return Occupied(w.kind(obj), there, obj)
		default:
			return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: it was made anew", obj.GetName())}
		}
		u.SetResourceVersion(there.GetResourceVersion())
		err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner)
		if conflict, is := AsConflict(err); !is || !conflict.ByHand() {
			return err
		}
	}
	return w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner, client.ForceOwnership)
}

// applied is what an apply sends: the shape of obj, and what it must still be.
func (w Writer) applied(obj client.Object, seen Seen) (*unstructured.Unstructured, error) {
	u, err := ApplyOf(obj, w.client.Scheme())
	if err != nil {
		return nil, err
	}
	if seen.UID != "" {
		u.SetUID(seen.UID)
	}
	if seen.ResourceVersion != "" {
		u.SetResourceVersion(seen.ResourceVersion)
	}
	return u, nil
}

// free says, from a live read, that the name is free, or returns the UID of our
// own child that the cache has not shown yet.
func (w Writer) free(ctx context.Context, obj client.Object) (types.UID, error) {
	there, err := w.named(ctx, obj)
	switch {
	case read.SaysGone(err, obj.GetName()):
		return "", nil
	case err != nil:
		return "", wrap("read", obj, err)
	case !sameOwner(there, obj):
		return "", Occupied(w.kind(obj), there, obj)
	}
	return there.GetUID(), nil
}

// explain tells why an apply was found invalid: as a rule because the object is
// not the one that was seen, which the server words as an immutable field or as
// one controller too many.
func (w Writer) explain(ctx context.Context, obj client.Object, seen types.UID, invalid error) error {
	there, err := w.named(ctx, obj)
	switch {
	case err != nil || there.GetUID() == seen:
	case !sameOwner(there, obj):
		return Occupied(w.kind(obj), there, obj)
	default: // our own, made anew: look at that one
		return &fsm.Error{Class: fsm.Changed, Err: invalid}
	}
	return wrap("apply", obj, invalid)
}

// made checks, by the answer to a first apply, that it made the object. One that somebody
// else made after the name was seen free was merged with; the fields it has besides
// tell it. An apply of nothing takes ours back.
func (w Writer) made(ctx context.Context, answer *unstructured.Unstructured) error {
	foreign := false
	for _, entry := range answer.GetManagedFields() {
		foreign = foreign || entry.Manager != string(w.owner)
	}
	if !foreign {
		return nil
	}
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(answer.GroupVersionKind())
	nothing.SetNamespace(answer.GetNamespace())
	nothing.SetName(answer.GetName())
	nothing.SetUID(answer.GetUID())
	if err := w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(nothing), w.owner); err != nil {
		return wrap("take back", answer, err)
	}
	return Taken(answer.GetKind(), nothing)
}
