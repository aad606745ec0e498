package read

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// maxOwners is how many owners are looked at, one above the other. A pod of a CronJob has two; a cycle ends here.
const maxOwners = 5

// TargetOf names what must be reserved to operate on an object: the nearest object of these kinds that controls it, itself
// included, because the operations of that one change the object as well; and the object itself if there is none. Owners
// are read live, since anybody who may edit an object can name any owner. An owner that is gone, or whose name another has,
// ends the search. An owner that cannot be read is an error: it may be one of these kinds, or below one.
func (l Live) TargetOf(ctx context.Context, obj *unstructured.Unstructured, kinds []schema.GroupKind) (Ref, error) {
	at := obj
	for range maxOwners {
		if slices.Contains(kinds, groupKind(at)) {
			break
		}
		owner, err := l.controllerOf(ctx, at)
		if err != nil {
			return Ref{}, fmt.Errorf("find the owner of %s: %w", reserve.RefOf(groupKind(at), at).Title(), err)
		}
		if owner == nil {
			break
		}
		at = owner
	}
	if !slices.Contains(kinds, groupKind(at)) {
		at = obj
	}
	return reserve.RefOf(groupKind(at), at), nil
}

// controllerOf reads the object that controls another; nil if there is none.
func (l Live) controllerOf(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ref := metav1.GetControllerOf(obj)
	if ref == nil {
		return nil, nil
	}
	owner := &unstructured.Unstructured{}
	owner.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	is, err := Find(ctx, l, Key{Namespace: obj.GetNamespace(), Name: ref.Name}, owner, Is[*unstructured.Unstructured](ref.UID))
	if err != nil || is != presence.Here {
		return nil, err
	}
	return owner, nil
}

func groupKind(obj *unstructured.Unstructured) schema.GroupKind {
	return obj.GroupVersionKind().GroupKind()
}
