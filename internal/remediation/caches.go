package remediation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
)

// Caches are what the area reads through its cache: its own kinds, and Jobs and pods of actions.
func Caches() []kube.Cached {
	return []kube.Cached{
		{Of: &remediationv1.KubernetesExecution{}},
		{Of: &remediationv1.RemediationRequest{}},
		{Of: &remediationv1.ExecutionApproval{}},
		{Of: &batchv1.Job{}, Labels: kube.HasLabel(remediationv1.ExecutionLabel)},
		{Of: &corev1.Pod{}, Labels: kube.HasLabel(remediationv1.ExecutionLabel)},
	}
}

// Indexes are those by which wakes and observers find executions.
func Indexes() []kube.Index {
	of := func(name string, values func(*remediationv1.KubernetesExecution) string) kube.Index {
		return kube.Index{Of: &remediationv1.KubernetesExecution{}, Name: name, Values: func(obj client.Object) []string {
			x, is := obj.(*remediationv1.KubernetesExecution)
			if !is || values(x) == "" {
				return nil
			}
			return []string{values(x)}
		}}
	}
	return []kube.Index{
		of(observe.ByRollback, func(x *remediationv1.KubernetesExecution) string {
			if x.Spec.RollbackOf == nil {
				return ""
			}
			return string(x.Spec.RollbackOf.UID)
		}),
		of(observe.ByExecuting, observe.IfExecuting),
		of(observe.ByTargetName, observe.TargetName),
		of(observe.ByRelease, observe.HourOfRelease),
		of(observe.ByFailure, observe.HourOfFailure),
		of(observe.ByBrake, heldBy),
		of(byParent, func(x *remediationv1.KubernetesExecution) string {
			if x.Spec.Parent == nil {
				return ""
			}
			return string(x.Spec.Parent.UID)
		}),
		of(observe.ByTarget, func(x *remediationv1.KubernetesExecution) string {
			if x.Status.Plan == nil {
				return ""
			}
			return string(x.Status.Plan.Target.UID)
		}),
		reservedIndex(),
	}
}
