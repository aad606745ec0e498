package kube

import (
	"context"

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
	u, err := ApplyOf(obj, w.client.Scheme())
	if err != nil {
		return err
	}
	if seen != "" {
		u.SetUID(seen)
	}
	err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner)
	if conflict, is := AsConflict(err); is && conflict.ByHand() {
		err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner, client.ForceOwnership)
	}
	if conflict, is := AsConflict(err); is {
		conflict.Object = w.kind(obj) + " " + obj.GetName()
		return &fsm.Error{Class: fsm.Contested, Err: conflict, Reason: ReasonFieldContested, Say: conflict.Error()}
	}
	switch {
	case apierrors.IsInvalid(err):
		return w.explain(ctx, obj, seen, err)
	case err == nil && seen == "":
		return w.made(ctx, u)
	}
	return wrap("apply", obj, err)
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
		return "", Taken(w.kind(obj), there)
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
		return Taken(w.kind(obj), there)
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
