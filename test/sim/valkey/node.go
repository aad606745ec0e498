package valkey

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	nodeName = "simulated"
	// The node is ready within; a node that is not heard of for 10 s is given up.
	readyWithin = time.Minute
	readyPoll   = 100 * time.Millisecond
	beatEvery   = 2 * time.Second
)

// install installs the area, and a node that all pods are scheduled to.
func install(t testing.TB, b *bed.Bed) {
	t.Helper()
	harness.Install(t, b, area)
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelHostname: nodeName}}}
	if err := c.Create(t.Context(), node); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	beat(t, c)
	harness.Eventually(t, readyWithin, readyPoll, func() error { return ready(t.Context(), c, node) })
}

// ready says that the node is, and room enough for every plan.
func ready(ctx context.Context, c client.Client, node *corev1.Node) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return err
	}
	if len(node.Status.Conditions) > 0 && len(node.Spec.Taints) == 0 {
		return nil
	}
	room := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU} {
		room[name] = resource.MustParse("1000000")
	}
	room[corev1.ResourceMemory] = resource.MustParse("1Pi")
	node.Status.Capacity, node.Status.Allocatable = room, room
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
	if err := c.Status().Update(ctx, node); err != nil {
		return err
	}
	return errors.New("the node is not ready yet")
}

// beat lets the node be heard of until the test ends.
func beat(t testing.TB, c client.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			_ = renew(ctx, c) // once more in a moment
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
}

func renew(ctx context.Context, c client.Client) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: nodeName}}
	err := c.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	lease.Spec.HolderIdentity = new(nodeName)
	lease.Spec.LeaseDurationSeconds = new(int32(40))
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	if err != nil {
		return c.Create(ctx, lease)
	}
	return c.Update(ctx, lease)
}
