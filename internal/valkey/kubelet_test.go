package valkey

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	fakekubelet "github.com/statecraft-dev/statecraft/test/harness/kubelet"
)

// kubelet stands in for the nodes that a control plane alone does not have: it gives
// every pod of a cluster an address and a server of the fake, and lets gossip flow.
type kubelet struct {
	client.Client
	servers *fake.Cluster
	node    *fakekubelet.Node

	mu      sync.Mutex
	at      map[string]string // pod UID to address
	version string            // of servers that are started; "" is 8.1.1
}

func startKubelet(t *testing.T, c client.Client, namespace string) *kubelet {
	t.Helper()
	k := &kubelet{Client: c, servers: fake.New(), at: map[string]string{}}
	k.node = fakekubelet.Join(t, c)
	k.node.Loop(t, func(ctx context.Context) {
		fakekubelet.Look(ctx, c, namespace, valkeyv1.ClusterLabel, k.run)
		k.servers.Settle()
	})
	return k
}

// run gives a pod an address and a server.
func (k *kubelet) run(pod *corev1.Pod) (changed bool) {
	if pod.Status.PodIP != "" {
		return false
	}
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
	return true
}
