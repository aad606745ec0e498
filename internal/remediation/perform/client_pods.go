package perform

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// podsAtOnce is how many pods are read at once.
const podsAtOnce = "250"

// Pods implements Object.
func (c *Client) Pods(ctx context.Context) (all []map[string]any, err error) {
	for next := ""; ; {
		list, _, err := answered(ctx, c.rest.Get().AbsPath("/api/v1").Resource("pods").
			Param("fieldSelector", "spec.nodeName="+c.target.Name).Param("limit", podsAtOnce).Param("continue", next))
		if err != nil {
			return nil, err
		}
		items, _ := list["items"].([]any)
		for _, item := range items {
			if pod, is := item.(map[string]any); is {
				all = append(all, pod)
			}
		}
		if next, _, _ = unstructured.NestedString(list, "metadata", "continue"); next == "" {
			return all, nil
		}
	}
}

// Evict implements Object.
func (c *Client) Evict(ctx context.Context, p action.Pod, grace *int64) error {
	body, err := json.Marshal(policyv1.Eviction{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &p.UID}, GracePeriodSeconds: grace,
		},
	})
	if err != nil {
		return fmt.Errorf("write eviction: %w", err)
	}
	_, _, err = answered(ctx, c.rest.Post().AbsPath("/api/v1").Namespace(p.Namespace).Resource("pods").Name(p.Name).SubResource("eviction").
		Param("timeout", c.within.String()).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body))
	return err
}
