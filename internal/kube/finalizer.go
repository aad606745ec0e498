package kube

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// A finalizer is kept only where garbage collection cannot reach: something
// outside the cluster would stay behind. It always has a bounded exit, or one
// unreachable system keeps a namespace Terminating for ever.

// AddFinalizer puts name on the object, as it was seen.
func (w Writer) AddFinalizer(ctx context.Context, obj client.Object, name string) error {
	return w.patchFinalizers(ctx, obj, func(next client.Object) bool { return controllerutil.AddFinalizer(next, name) })
}

// RemoveFinalizer takes name off the object, as it was seen. That the object is
// gone already is success.
func (w Writer) RemoveFinalizer(ctx context.Context, obj client.Object, name string) error {
	err := w.patchFinalizers(ctx, obj, func(next client.Object) bool { return controllerutil.RemoveFinalizer(next, name) })
	if err != nil && w.wasGone(ctx, obj, obj.GetUID(), err) {
		return nil
	}
	return err
}

func (w Writer) patchFinalizers(ctx context.Context, obj client.Object, change func(client.Object) bool) error {
	next := obj.DeepCopyObject().(client.Object)
	if !change(next) {
		return nil
	}
	patch := client.MergeFromWithOptions(obj, client.MergeFromWithOptimisticLock{})
	return wrap("patch finalizers of", obj, w.client.Patch(ctx, next, patch, w.owner))
}

// ExitBy is when a finalizer must be off, whatever the outside says: machines use
// it as the Until of the phase that cleans up. Zero while nobody deletes obj.
func ExitBy(obj metav1.Object, within time.Duration) time.Time {
	if at := obj.GetDeletionTimestamp(); at != nil {
		return at.Add(within)
	}
	return time.Time{}
}
