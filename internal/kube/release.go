package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Release removes a Pod that is being deleted from the API server, as its kubelet does once the containers have ended. Who calls it
// must know that they have: a StatefulSet starts the Pod's successor at once, and two of them would run. It is for the very Pod in the
// version that was decided upon; that it is gone, or that another has its name, is success.
func (w Writer) Release(ctx context.Context, obj client.Object, seen Seen) error {
	if err := seen.check("release", obj); err != nil {
		return err
	}
	err := w.client.Delete(ctx, obj, client.GracePeriodSeconds(0),
		client.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if w.wasGone(ctx, obj, seen.UID, err) {
		return nil
	}
	return wrap("release", obj, err)
}
