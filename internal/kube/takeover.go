package kube

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TakeOver applies obj over whoever owns its fields: their values become ours, and those managers own them no more. It is for
// a field whose owners were read and may be taken from, such as an autoscaler that is gone, so it is for that very version: a
// manager that wrote since is not overruled, and the caller looks again (error class Changed).
func (w Writer) TakeOver(ctx context.Context, obj client.Object, seen Seen) error {
	if err := seen.check("take over", obj); err != nil {
		return err
	}
	u, err := w.applied(obj, seen)
	if err != nil {
		return err
	}
	err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), w.owner, client.ForceOwnership)
	return wrap("take over", obj, err)
}
