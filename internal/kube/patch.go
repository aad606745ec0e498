package kube

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patch writes what differs between an object as it was read and as it should be, by one
// merge patch. The version that was read is a precondition: what was decided about another
// is not written. It is for objects of others, of which we change a field or two; a child of
// our own is created or applied.
func (w Writer) Patch(ctx context.Context, was, next client.Object) error {
	patch := client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})
	return wrap("patch", was, w.client.Patch(ctx, next, patch, w.owner))
}

// PatchStatus is Patch for the status of objects of others, of which we add a condition. The
// status of our own kinds is the Store's to write.
func (w Writer) PatchStatus(ctx context.Context, was, next client.Object) error {
	patch := client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})
	return wrap("patch status of", was, w.client.Status().Patch(ctx, next, patch, w.owner))
}
