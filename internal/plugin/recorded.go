package plugin

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// chain is the name of the cluster's chain of audit records.
func (r *Reader) chain(ctx context.Context) (string, error) {
	ns, err := r.typed.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("find the chain of the cluster, or give it by --chain: %w", err)
	}
	return string(ns.UID), nil
}

// recorded are the executions of all namespaces, as far as audit records are about them.
func (r *Reader) recorded(ctx context.Context) (all []audit.Execution, err error) {
	objects := r.objects.Resource(remediationv1.GroupVersion.WithResource("kubernetesexecutions"))
	for next := ""; ; {
		list, err := objects.List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, fmt.Errorf("list the executions of all namespaces: %w", err)
		}
		for i := range list.Items {
			var x remediationv1.KubernetesExecution
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &x); err != nil {
				return nil, fmt.Errorf("read KubernetesExecution %s: %w", list.Items[i].GetName(), err)
			}
			all = append(all, audit.ExecutionOf(&x))
		}
		if next = list.GetContinue(); next == "" {
			return all, nil
		}
	}
}
