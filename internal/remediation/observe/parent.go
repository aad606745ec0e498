package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// parent looks at the request of which the execution is a step, live: a request that was cancelled or deleted a moment ago
// must not have its step done. The request is nil if there is none, or none any more.
func (o Execution) parent(ctx context.Context, x *remediationv1.KubernetesExecution) (p execution.Parent, rr *remediationv1.RemediationRequest, err error) {
	ref := x.Spec.Parent
	if ref == nil {
		return p, nil, nil
	}
	rr = &remediationv1.RemediationRequest{}
	p.Sight, err = read.Find(ctx, o.Live, read.Key{Namespace: x.Namespace, Name: ref.Name}, rr, read.Is[*remediationv1.RemediationRequest](ref.UID))
	switch {
	case err != nil:
		return p, nil, fmt.Errorf("look at the request of %s: %w", x.Name, err)
	case p.Sight != presence.Here:
		return p, nil, nil
	}
	p.Forgot = request.HasForgotten(rr)
	p.Over, p.Cancelled, p.Named = request.Ended(rr), rr.Spec.Cancel, request.Named(rr, x)
	p.Deleted = rr.DeletionTimestamp != nil
	p.Agrees = metav1.IsControlledBy(x, rr) && request.Asks(rr, x)
	return p, rr, nil
}

// familyOf are those whose reservations are the execution's as well.
func familyOf(x *remediationv1.KubernetesExecution) []reserve.Ref {
	ref := x.Spec.Parent
	if ref == nil {
		return nil
	}
	return []reserve.Ref{reserve.RefOf(requestKind, &metav1.ObjectMeta{Namespace: x.Namespace, Name: ref.Name, UID: ref.UID})}
}
