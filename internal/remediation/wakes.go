package remediation

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var executionKind = remediationv1.GroupVersion.WithKind("KubernetesExecution")

// ExecutionWakes are those of KubernetesExecutions; looks tells of looks that have changed.
func ExecutionWakes(looks *kube.Waker) []kube.Wake {
	return []kube.Wake{
		{Name: "look", Waker: looks},
		kube.Child(&batchv1.Job{}, executionKind),
		{Name: "approvals", Of: &remediationv1.ExecutionApproval{}, Find: approved},
		{Name: "executions", Of: &remediationv1.KubernetesExecution{}, Find: takenBack},
		{Name: "parent", Of: &remediationv1.RemediationRequest{}, Find: stepsOf},
		kube.Reserved(waiting),
	}
}

// approved is the execution that an approval is about.
func approved(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	a, is := obj.(*remediationv1.ExecutionApproval)
	if !is {
		return nil
	}
	return []read.Key{{Namespace: a.Namespace, Name: a.Spec.ExecutionRef.Name}}
}

// takenBack is the execution that another one takes back.
func takenBack(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	x, is := obj.(*remediationv1.KubernetesExecution)
	if !is || x.Spec.RollbackOf == nil {
		return nil
	}
	return []read.Key{{Namespace: x.Namespace, Name: x.Spec.RollbackOf.Name}}
}

// byParent is the index by which the executions of a request are found, by its UID.
const byParent = "parent"

// stepsOf are the executions of a request.
func stepsOf(ctx context.Context, cached read.Reader, obj client.Object) (keys []read.Key) {
	var list remediationv1.KubernetesExecutionList
	if err := cached.List(ctx, &list, read.InNamespace(obj.GetNamespace()), read.Fields{byParent: string(obj.GetUID())}); err != nil {
		return nil // it was asked for an index that does not exist, which a test refuses
	}
	for _, x := range list.Items {
		keys = append(keys, read.Key{Namespace: x.Namespace, Name: x.Name})
	}
	return keys
}

// waiting are the executions on a target.
func waiting(ctx context.Context, cached read.Reader, target reserve.Ref) (keys []read.Key) {
	var list remediationv1.KubernetesExecutionList
	if err := cached.List(ctx, &list, read.Fields{observe.ByTarget: string(target.UID)}); err != nil {
		return nil // an execution that waits looks by itself, too
	}
	for _, x := range list.Items {
		keys = append(keys, read.Key{Namespace: x.Namespace, Name: x.Name})
	}
	return keys
}
