package valkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// kubelet stands in for the nodes that a control plane alone does not have: it gives
// every pod of a cluster an address and a server of the fake, and lets gossip flow.
type kubelet struct {
	client.Client
	servers *fake.Cluster

	node   string
	beatAt time.Time

	mu      sync.Mutex
	at      map[string]string // pod UID to address
	version string            // of servers that are started; "" is 8.1.1
}

const kubeletLooks = 20 * time.Millisecond

func startKubelet(t *testing.T, c client.Client, namespace string) *kubelet {
	t.Helper()
	k := &kubelet{Client: c, servers: fake.New(), at: map[string]string{}}
	k.join(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(kubeletLooks)
		defer ticker.Stop()
		for ctx.Err() == nil {
			k.beat(ctx)
			k.look(ctx, namespace)
			k.servers.Settle()
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return k
}

// join makes a node that pods can be scheduled to, and waits until they can.
func (k *kubelet) join(t *testing.T) {
	t.Helper()
	much := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5k"), corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "fake-"}}
	if err := k.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	k.node = node.Name
	t.Cleanup(func() { _ = k.Delete(context.Background(), node) })
	harness.Eventually(t, within, poll, func() error {
		if err := k.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
			return err
		}
		if len(node.Status.Conditions) > 0 && len(node.Spec.Taints) == 0 {
			return nil
		}
		node.Status.Capacity, node.Status.Allocatable = much, much
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
		if err := k.Status().Update(t.Context(), node); err != nil {
			return err
		}
		return errors.New("the node is not ready yet")
	})
}

// beatEvery is well within the time after which a node that is not heard of is given up.
const beatEvery = 2 * time.Second

// beat lets the node be heard of: pods of one that is not are not ready.
func (k *kubelet) beat(ctx context.Context) {
	if time.Since(k.beatAt) < beatEvery {
		return
	}
	k.beatAt = time.Now()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: k.node}}
	_, _ = controllerutil.CreateOrUpdate(ctx, k.Client, lease, func() error { // once more in a moment
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &k.node, &metav1.MicroTime{Time: k.beatAt}
		return nil
	})
}

func (k *kubelet) look(ctx context.Context, namespace string) {
	var pods corev1.PodList
	if k.List(ctx, &pods, client.InNamespace(namespace), client.HasLabels{valkeyv1.ClusterLabel}) != nil {
		return
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp != nil {
			_ = k.Delete(ctx, pod, client.GracePeriodSeconds(0))
		} else if pod.Status.PodIP == "" {
			k.run(ctx, pod)
		}
	}
}

func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ip, known := k.at[string(pod.UID)]
	if !known {
		ip = fmt.Sprintf("10.0.0.%d", len(k.at)+1)
		k.at[string(pod.UID)] = ip
		k.servers.Start(ip+":6379", cmp.Or(k.version, "8.1.1"))
		k.servers.Bear(ip+":6379", spec.MarkOf(pod))
	}
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_ = k.Status().Update(ctx, pod) // a conflict is tried again in the next look
}
