package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// mostPods is how many pods of a target are looked at.
const mostPods = 500

// pods counts the pods of a workload, once its controller has seen its newest spec. Before that, and for what has no
// pods, nothing is known of them.
func (l Looker) pods(ctx context.Context, object map[string]any) (*policy.Pods, error) {
	wanted, scales, _ := unstructured.NestedInt64(object, "spec", "replicas")
	labels, selects, _ := unstructured.NestedStringMap(object, "spec", "selector", "matchLabels")
	_, more, _ := unstructured.NestedSlice(object, "spec", "selector", "matchExpressions")
	seen, _, _ := unstructured.NestedInt64(object, "status", "observedGeneration")
	u := unstructured.Unstructured{Object: object}
	if !scales || !selects || more || seen != u.GetGeneration() {
		return nil, nil
	}
	var list corev1.PodList
	if err := l.Live.List(ctx, &list, read.InNamespace(u.GetNamespace()), read.Labels(labels), read.Limit(mostPods)); err != nil {
		return nil, fmt.Errorf("list pods of the target: %w", err)
	}
	count := &policy.Pods{Wanted: wanted}
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				count.Ready++
			}
		}
		for _, c := range pod.Status.ContainerStatuses {
			count.Restarts += int64(c.RestartCount)
		}
	}
	return count, nil
}
