// Package kubelet stands in for the nodes that a control plane alone does not have: a node that pods can be scheduled
// to, and somebody who says of its pods what a test wants them to be.
package kubelet

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Node is one that has no machine.
type Node struct {
	client client.Client
	name   string
	beatAt time.Time
}

// joinPoll is how often is looked whether pods can be scheduled to the node.
const joinPoll = 50 * time.Millisecond

// Join makes a node that pods can be scheduled to, and waits until they can. It is gone when the test ends.
func Join(t testing.TB, c client.Client) *Node {
	t.Helper()
	much := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5k"), corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "fake-"}}
	if err := c.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), node) })
	harness.Eventually(t, timeout.Wait, joinPoll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
			return err
		}
		if len(node.Status.Conditions) > 0 && len(node.Spec.Taints) == 0 {
			return nil
		}
		node.Status.Capacity, node.Status.Allocatable = much, much
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
		if err := c.Status().Update(t.Context(), node); err != nil {
			return err
		}
		return errors.New("the node is not ready yet")
	})
	return &Node{client: c, name: node.Name}
}

// beatEvery is well within the time after which a node that is not heard of is given up.
const beatEvery = 2 * time.Second

// Beat lets the node be heard of: pods of one that is not are not ready.
func (n *Node) Beat(ctx context.Context) {
	if time.Since(n.beatAt) < beatEvery {
		return
	}
	n.beatAt = time.Now()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: n.name}}
	_, _ = controllerutil.CreateOrUpdate(ctx, n.client, lease, func() error { // once more in a moment
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &n.name, &metav1.MicroTime{Time: n.beatAt}
		return nil
	})
}
