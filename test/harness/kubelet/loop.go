package kubelet

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// looks is how often a kubelet looks at its pods.
const looks = 20 * time.Millisecond

// Loop lets a node be heard of and calls look, again and again until the test ends.
func (n *Node) Loop(t testing.TB, look func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for ctx.Err() == nil {
			n.Beat(ctx)
			look(ctx)
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// Look goes once through the pods of a namespace that have a label. Those that were deleted are gone; of the others run
// says what their status is, and whether it changed.
func Look(ctx context.Context, c client.Client, namespace, label string, run func(*corev1.Pod) bool) {
	var pods corev1.PodList
	if c.List(ctx, &pods, client.InNamespace(namespace), client.HasLabels{label}) != nil {
		return
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp != nil {
			_ = c.Delete(ctx, pod, client.GracePeriodSeconds(0))
		} else if run(pod) {
			_ = c.Status().Update(ctx, pod) // a conflict is tried again in the next look
		}
	}
}
