// Package caches measures what a manager holds in memory on a cluster that is full of objects of others.
package caches

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	starts  = 7                     // of the manager; the best of them counts, as the machine has other things to do
	glance  = 10 * time.Millisecond // between two looks
	settles = 2 * time.Second       // after which a manager that has started holds what it will hold
	most    = 1.1                   // of what it takes without the others
	makers  = 32                    // who make objects
)

// crowd is how many Pods there are that are none of ours, and as many ConfigMaps.
func crowd() int { return harness.ByLevel(10_000, 20_000) }

// TestObjectsOfOthersCostNothing: memory and start-up of the manager are the same on a cluster full of Pods and ConfigMaps that
// are none of ours.
func TestObjectsOfOthersCostNothing(t *testing.T) {
	b := bedtest.ControlPlane(t)
	m := product.NewManager(t, b, "valkey", "--no-leader-election")
	c := harness.Client(t, b, valkeyv1.AddToScheme)
	namespace := bedtest.Namespace(t, b)
	alone := measure(t, c, m, namespace)
	began := time.Now()
	populate(t, b, namespace)
	harness.Row(t, "%d Pods and %d ConfigMaps of others, made in %s", crowd(), crowd(), time.Since(began).Round(time.Second))
	among := measure(t, c, m, namespace)
	harness.Row(t, "the manager's memory: %.1f MiB without them, %.1f MiB among them: %+.1f %%", mib(alone.memory), mib(among.memory),
		100*(float64(among.memory)/float64(alone.memory)-1))
	harness.Row(t, "from its start to the first object: %s without them, %s among them: %+.1f %%", alone.start, among.start,
		100*(float64(among.start)/float64(alone.start)-1))
	if float64(among.memory) > most*float64(alone.memory) {
		t.Errorf("among objects of others it has %.1f MiB instead of %.1f", mib(among.memory), mib(alone.memory))
	}
	if float64(among.start) > most*float64(alone.start) {
		t.Errorf("among objects of others it starts in %s instead of %s", among.start, alone.start)
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// cost is what a manager takes.
type cost struct {
	memory int64         // at its peak, in bytes
	start  time.Duration // until its caches were there and it had reconciled an object
}

// measure starts the manager a few times and returns the least that it took.
func measure(t *testing.T, c client.Client, m *product.Manager, namespace string) (least cost) {
	t.Helper()
	for range starts {
		one := measureStart(t, c, m, namespace)
		t.Logf("%.1f MiB, %s", mib(one.memory), one.start)
		if least.memory == 0 || one.memory < least.memory {
			least.memory = one.memory
		}
		if least.start == 0 || one.start < least.start {
			least.start = one.start
		}
	}
	return least
}

// measureStart starts the manager for a cluster that waits for a Secret, and so makes nothing.
func measureStart(t *testing.T, c client.Client, m *product.Manager, namespace string) cost {
	t.Helper()
	probe := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "probe-"}}
	probe.Spec.Auth = &valkeyv1.Auth{SecretName: "missing"}
	if err := c.Create(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	m.Start()
	harness.Eventually(t, timeout.Wait, glance, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(probe), probe); err != nil {
			return err
		}
		if probe.Status.Phase == "" {
			return errors.New("nobody has looked at the cluster")
		}
		return nil
	})
	start := time.Since(began).Round(time.Millisecond)
	<-time.After(settles)
	peak := m.PeakMemory()
	m.Stop()
	if err := c.Delete(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	return cost{peak, start}
}

// populate makes Pods and ConfigMaps of others.
func populate(t *testing.T, b *bed.Bed, namespace string) {
	t.Helper()
	config := b.Config()
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	admin, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, timeout.Wait, glance, func() error { // Pods are refused before
		_, err := admin.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(makers)
	for i := range crowd() {
		g.Go(func() error { return makeOthers(ctx, admin, namespace, i) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func makeOthers(ctx context.Context, admin kubernetes.Interface, namespace string, i int) error {
	named := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("other-%d", i), Labels: map[string]string{"app": "other"}}
	text := words(uint64(i)) //nolint:gosec // not negative
	config := &corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"settings": text}}
	if _, err := admin.CoreV1().ConfigMaps(namespace).Create(ctx, config, metav1.CreateOptions{}); err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{
		SchedulerName: "nobody", AutomountServiceAccountToken: ptr.To(false), // nobody is to have work with them
		Containers: []corev1.Container{{Name: "app", Image: "app", Env: []corev1.EnvVar{{Name: "SETTINGS", Value: text}}}},
	}}
	_, err := admin.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// words are about a kilobyte of text, of which no two are alike.
func words(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same text every time
	var b strings.Builder
	for b.Len() < 1000 {
		fmt.Fprintf(&b, "setting-%d=%d\n", r.IntN(1000), r.IntN(1_000_000))
	}
	return b.String()
}
