package observe

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// withoutDouble leaves out the budget of a function whose pods one of another owner selects: Kubernetes evicts no pod that two
// budgets select, so that no node with such a pod could ever be drained.
func (o Class) withoutDouble(ctx context.Context, c *runtimev1.ClassRuntime, functions []spec.Function) error {
	var list policyv1.PodDisruptionBudgetList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace)); err != nil {
		return fmt.Errorf("list budgets: %w", err)
	}
	for i := range list.Items {
		b := &list.Items[i]
		if child.OwnedBy(b, c.UID) || b.DeletionTimestamp != nil {
			continue
		}
		for j, f := range functions {
			if f.Budget != nil && Selects(b, f.Deployment.Spec.Template.Labels) {
				functions[j].Budget = nil
			}
		}
	}
	return nil
}

// Selects says that a budget is about pods with these labels. One without a selector is about none.
func Selects(b *policyv1.PodDisruptionBudget, pod map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && s.Matches(labels.Set(pod))
}
