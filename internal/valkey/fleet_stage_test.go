package valkey

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	fakekubelet "github.com/statecraft-dev/statecraft/test/harness/kubelet"
)

const (
	fleetWithin = 15 * time.Minute
	fleetLooks  = time.Second
	deadLink    = 4 * time.Second // what a question over one takes at most
)

// fleet is many clusters of one manager: real objects, pods that a fake kubelet runs, and fake servers, which count
// how often they are asked.
type fleet struct {
	*kubelet
	asks  atomic.Int64
	began time.Time
	speed int // how much faster the clock of managers goes since then; 0 is not

	last        map[string]string // the last address of each pod, by its name
	mu          sync.Mutex
	clusters    map[string]*fake.Cluster
	unreachable map[string]bool // clusters behind a dead link
	vain        map[string]bool // those of them that were asked in vain
}

func newFleet(t *testing.T, b *bed.Bed) *fleet {
	t.Helper()
	f := &fleet{kubelet: &kubelet{Client: newClient(t, b), at: map[string]string{}}, began: time.Now(), last: map[string]string{}, clusters: map[string]*fake.Cluster{}, unreachable: map[string]bool{}, vain: map[string]bool{}}
	f.node = fakekubelet.Join(t, f.Client)
	return f
}

// linked is the servers of one cluster over a link that counts questions, and may be dead: then
// nothing comes back, and whoever asks waits for as long as it may.
type linked struct {
	*fake.Cluster
	fleet *fleet
	name  string
}

func (l linked) Ask(ctx context.Context, addr string) (*topology.Server, error) {
	l.fleet.asks.Add(1)
	if l.fleet.dead(l.name) {
		select {
		case <-ctx.Done():
		case <-time.After(deadLink):
		}
		l.fleet.noteVain(l.name)
		return nil, fmt.Errorf("ask %s: %w", addr, wire.ErrUnreachable)
	}
	return l.Cluster.Ask(ctx, addr)
}

func (f *fleet) dead(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unreachable[name]
}

func (f *fleet) noteVain(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vain[name] = true
}

func (f *fleet) askedInVain() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.vain)
}

func (f *fleet) setUnreachable(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.unreachable)
	for _, name := range names {
		f.unreachable[name] = true
	}
}

func (f *fleet) of(name string) *fake.Cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clusters[name] == nil {
		f.clusters[name] = fake.New()
	}
	return f.clusters[name]
}

// startManager starts one by these options; it is stopped with the test, or before.
func (f *fleet) startManager(t *testing.T, b *bed.Bed, o Options, namespaces ...string) (stop func()) {
	t.Helper()
	connect := func(_ context.Context, key read.Key) (Servers, error) {
		return linked{f.of(key.Name), f, key.Name}, nil
	}
	area := NewArea(func(kube.Env) Connector { return ConnectorFunc(connect) }, o)
	if setup := area.Setup; f.speed > 1 {
		area.Setup = func(a *kube.Area) error {
			a.Env.Now = func() time.Time { return f.began.Add(time.Duration(f.speed) * time.Since(f.began)) }
			return setup(a)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		cfg := b.ConfigFor(harness.User("valkey"), "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
		ended <- kube.Run(ctx, cfg, kube.Options{
			Areas: []kube.AreaSetup{area}, Kinds: Kinds(),
			Namespaces: namespaces, Namespace: harness.SystemNamespace,
			Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// thisVersion is the operator as it is.
func thisVersion() Options { return Options{Build: spec.Builder{NodeImage: "node"}, Restarts: 1} }

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
		f.node.Beat(t.Context())
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

// startServer starts the server of a pod. One in the place of another has its data and its name, as with a volume.
func (f *fleet) startServer(pod *corev1.Pod) {
	n, servers := len(f.at), f.of(pod.Labels[valkeyv1.ClusterLabel])
	f.at[string(pod.UID)] = fmt.Sprintf("10.0.%d.%d", n/250, n%250+1)
	addr, was := f.at[string(pod.UID)]+":6379", f.last[pod.Name]
	if was == "" {
		servers.Start(addr, "8.1.1")
	} else {
		servers.Restart(was, fake.Restart{Addr: addr})
	}
	servers.Bear(addr, spec.MarkOf(pod))
	f.last[pod.Name] = addr
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
		if pod.DeletionTimestamp != nil {
			f.of(pod.Labels[valkeyv1.ClusterLabel]).Stop(f.last[pod.Name])
			group.Go(func() error { return client.IgnoreNotFound(f.Delete(ctx, pod, client.GracePeriodSeconds(0))) })
			continue
		}
		if pod.Status.PodIP != "" {
			continue
		}
		if f.at[string(pod.UID)] == "" {
			f.startServer(pod)
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
