//go:build full

package valkey

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	fleetWithin = 15 * time.Minute
	fleetRest   = time.Minute
	fleetLooks  = time.Second
)

// fleet is many clusters of one manager: real objects, pods that a fake kubelet runs, and fake servers, which count
// how often they are asked.
type fleet struct {
	*kubelet
	asks atomic.Int64

	mu       sync.Mutex
	clusters map[string]*fake.Cluster
}

// counted counts questions to the servers of one cluster.
type counted struct {
	*fake.Cluster
	asks *atomic.Int64
}

func (c counted) Ask(ctx context.Context, addr string) (*topology.Server, error) {
	c.asks.Add(1)
	return c.Cluster.Ask(ctx, addr)
}

func (f *fleet) of(name string) *fake.Cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clusters[name] == nil {
		f.clusters[name] = fake.New()
	}
	return f.clusters[name]
}

// TestFleet measures what a cluster at rest costs its manager, with 20 clusters and with 200: it must be the same.
func TestFleet(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	namespace := bedtest.Namespace(t, b)
	f := &fleet{kubelet: &kubelet{Client: newClient(t, b), at: map[string]string{}}, clusters: map[string]*fake.Cluster{}}
	f.join(t)
	f.startManager(t, b, namespace)
	var costs []cost
	for _, n := range []int{20, 200} {
		f.grow(t, namespace, n)
		c := f.measure(t, b, n)
		harness.Row(t, "%d clusters: %.2f %% of a core, %.1f MiB heap, %.1f questions a server and minute, %d writes in %s",
			n, 100*c.cpu.Seconds()/fleetRest.Seconds(), c.heap/(1<<20), c.asks, c.writes, fleetRest)
		if c.writes > 0 {
			t.Errorf("%d writes at rest", c.writes)
		}
		costs = append(costs, c)
	}
	few, many := costs[0].cpu.Seconds()/20, costs[1].cpu.Seconds()/200
	harness.Row(t, "CPU of a cluster: %.1f ms a minute with 20, %.1f ms with 200: %.2f", few*1e3, many*1e3, many/few)
}

func (f *fleet) startManager(t *testing.T, b *bed.Bed, namespace string) {
	t.Helper()
	connect := func(_ context.Context, key read.Key) (Servers, error) { return counted{f.of(key.Name), &f.asks}, nil }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		cfg := b.ConfigFor(harness.User("valkey"), "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
		ended <- kube.Run(ctx, cfg, kube.Options{
			Areas:      []kube.AreaSetup{NewArea(func(kube.Env) Connector { return connect }, spec.Builder{NodeImage: "node"})},
			Namespaces: []string{namespace}, ReservationNamespace: harness.SystemNamespace,
			Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
}

// grow makes clusters until there are so many, and runs their pods until all of them say Running.
func (f *fleet) grow(t *testing.T, namespace string, n int) {
	t.Helper()
	began := time.Now()
	for i := range n {
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("fleet-%d", i)}}
		if err := f.Create(t.Context(), c); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, fleetWithin, fleetLooks, func() error {
		f.beat(t.Context())
		if err := f.runPods(t.Context(), namespace); err != nil {
			return err
		}
		var list valkeyv1.ValkeyClusterList
		if err := f.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
			return err
		}
		running := 0
		for i := range list.Items {
			f.of(list.Items[i].Name).Settle()
			if list.Items[i].Status.Phase == cluster.Running && list.Items[i].Status.CurrentOperation == "" {
				running++
			}
		}
		if running < n {
			return fmt.Errorf("%d of %d run", running, n)
		}
		return nil
	})
	t.Logf("%d clusters run after %s", n, time.Since(began).Round(time.Second))
}

func (f *fleet) runPods(ctx context.Context, namespace string) error {
	var pods corev1.PodList
	if err := f.List(ctx, &pods, client.InNamespace(namespace), client.HasLabels{valkeyv1.ClusterLabel}); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(8)
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.PodIP != "" {
			continue
		}
		if f.at[string(pod.UID)] == "" {
			n := len(f.at)
			f.at[string(pod.UID)] = fmt.Sprintf("10.0.%d.%d", n/250, n%250+1)
			f.of(pod.Labels[valkeyv1.ClusterLabel]).Start(f.at[string(pod.UID)]+":6379", "8.1.1")
		}
		ip := f.at[string(pod.UID)]
		group.Go(func() error {
			pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			_ = f.Status().Update(ctx, pod) // a conflict is tried again in the next look
			return nil
		})
	}
	return group.Wait()
}

// cost is what clusters at rest cost.
type cost struct {
	cpu    time.Duration
	heap   float64
	asks   float64 // of a server, in a minute
	writes int
}

func (f *fleet) measure(t *testing.T, b *bed.Bed, n int) (c cost) {
	t.Helper()
	settled := time.Now()
	var writes map[string]int
	harness.Eventually(t, fleetWithin, fleetLooks, func() error { // events and reservations come after the phase
		f.beat(t.Context())
		all, err := b.Writes(time.Now().Add(-5*time.Second), harness.User("valkey"))
		if writes = bed.CountWrites(all); err == nil && len(writes) > 0 {
			err = fmt.Errorf("still writes after %s: %v", time.Since(settled), writes)
		}
		return err
	})
	runtime.GC()
	since, cpu, asks := time.Now(), processCPU(t), f.asks.Load()
	for time.Since(since) < fleetRest {
		f.beat(t.Context()) // or the node is given up
		<-time.After(fleetLooks)
	}
	c.cpu = processCPU(t) - cpu
	const servers = 6
	c.asks = float64(f.asks.Load()-asks) / float64(n*servers) / fleetRest.Minutes()
	all, err := b.Writes(since, harness.User("valkey"))
	if err != nil {
		t.Fatal(err)
	}
	c.writes = len(all)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	c.heap = float64(memory.HeapAlloc)
	return c
}

func processCPU(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
