package remediation

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/kube/ttl"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// approvals are the decisions about executions. They go when nothing rests on them any more, and the time is over for which the
// record of an execution is kept.
func approvals(e kube.Env, c Config, records *Audit) ttl.Kind {
	terms := ttl.Terms{Succeeded: c.TTLCompleted}
	k := ttl.Of("ExecutionApproval", terms, func() client.ObjectList { return &remediationv1.ExecutionApprovalList{} }, endOfApproval)
	k.Needed = func(ctx context.Context, obj client.Object) (bool, error) {
		a, is := obj.(*remediationv1.ExecutionApproval)
		if !is || records.lacks(a) {
			return true, nil
		}
		return isNeeded(ctx, e, a)
	}
	return k
}

// longestApproval is how long an approval holds at most.
const longestApproval = 24 * time.Hour

// endOfApproval is when no decision of that age holds any more, however long it was to.
func endOfApproval(a *remediationv1.ExecutionApproval) ttl.End {
	at := metav1.NewTime(a.CreationTimestamp.Add(longestApproval))
	return ttl.End{Ready: metav1.ConditionTrue, At: &at}
}

// isNeeded says that the execution that was decided about is there, or that its mark is on a target, by live reads.
func isNeeded(ctx context.Context, e kube.Env, a *remediationv1.ExecutionApproval) (bool, error) {
	of := a.Spec.ExecutionRef
	sight, err := read.Find(ctx, e.LiveReader(), read.Key{Namespace: a.Namespace, Name: of.Name}, &remediationv1.KubernetesExecution{},
		read.Is[*remediationv1.KubernetesExecution](of.UID))
	if err != nil || sight == presence.Here || a.Spec.Decision != remediationv1.Acknowledged {
		return sight == presence.Here, err
	}
	var leases coordinationv1.LeaseList
	if err := e.LiveReader().List(ctx, &leases, read.InNamespace(e.Namespace)); err != nil {
		return true, fmt.Errorf("list reservations: %w", err)
	}
	for i := range leases.Items {
		if mark := read.UnresolvedOf(&leases.Items[i]); mark != nil && mark.By.UID == of.UID {
			return true, nil
		}
	}
	return false, nil
}
