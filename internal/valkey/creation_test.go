package valkey

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Waiting, named once.
const (
	within = timeout.Wait
	poll   = 20 * time.Millisecond
	rest   = 3 * time.Second // that a cluster at rest is watched
)

// stage is a control plane on which area valkey runs, with the rights of its roles,
// over fake servers in pods that a fake kubelet runs.
type stage struct {
	*testing.T
	client.Client
	bed       *bed.Bed
	kubelet   *kubelet
	namespace string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c := newClient(t, b)
	s := &stage{T: t, Client: c, bed: b, namespace: bedtest.Namespace(t, b)}
	s.kubelet = startKubelet(t, c, s.namespace)
	s.startManager()
	return s
}

func newClient(t *testing.T, b *bed.Bed) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, valkeyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(b.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *stage) startManager() {
	s.Helper()
	cfg := s.bed.ConfigFor(harness.User("valkey"), "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- kube.Run(ctx, cfg, kube.Options{
			Areas: []kube.AreaSetup{NewArea(func(kube.Env) Connector { return ConnectTo(s.kubelet.servers) }, Options{Build: spec.Builder{NodeImage: "node"}, Restarts: 1})}, Namespaces: []string{s.namespace},
			Namespace: harness.SystemNamespace, Election: kube.Election{Off: true},
			MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	s.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("the manager ended: %v", err)
		}
	})
}

func (s *stage) create(name string) *valkeyv1.ValkeyCluster {
	s.Helper()
	return s.createWith(name, func(*valkeyv1.ValkeyCluster) {})
}

func (s *stage) createWith(name string, change func(*valkeyv1.ValkeyCluster)) *valkeyv1.ValkeyCluster {
	s.Helper()
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	change(c)
	if err := s.Create(s.Context(), c); err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *stage) reaches(c *valkeyv1.ValkeyCluster, phase fsm.Phase) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if c.Status.Phase != phase {
			return fmt.Errorf("%s is %s, waiting for %q: %v", c.Name, c.Status.Phase, c.Status.WaitingFor, c.Status.Conditions)
		}
		return nil
	})
}

// TestCreation makes a cluster by the least number of writes, and none at rest.
func TestCreation(t *testing.T) {
	s := newStage(t)
	began := time.Now()
	c := s.create("web")
	s.reaches(c, cluster.Running)
	t.Logf("Running after %s: %v", time.Since(began).Round(time.Millisecond), moves(c))
	if !apimeta.IsStatusConditionTrue(c.Status.Conditions, fsm.Ready) || c.Status.ReadyNodes != "6/6" ||
		c.Status.AssignedSlots != "16384/16384" || c.Status.Masters != 3 || c.Status.Version != "8.1.1" || c.Status.CurrentOperation != "" {
		t.Errorf("status %+v", c.Status)
	}
	want := map[string]int{
		"patch services":                    2,
		"patch configmaps":                  2, // and the mark
		"patch poddisruptionbudgets.policy": 1,
		"patch statefulsets.apps":           3,
		"create leases.coordination.k8s.io": 1,
		"update leases.coordination.k8s.io": 1,
	}
	var got map[string]int
	harness.Eventually(t, within, poll, func() error {
		if got = s.writes(began); got["update leases.coordination.k8s.io"] == 0 {
			return fmt.Errorf("the reservation is not given back: %v", got)
		}
		return nil
	})
	// Moves that need no effect in between share a write, and servers that answer before
	// anybody waits for them save that of a wait. On a busy machine one waits for other words.
	const status, words = "patch valkeyclusters.valkey.statecraft.dev/status", 2
	want[status] = min(len(c.Status.History)+words, got[status])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes, wanted and done: %s\n%v", diff, moves(c))
	}
	if out, err := s.bed.Kubectl(t.Context(), "get", "vkc", "web", "-n", s.namespace, "--no-headers"); err != nil || !strings.Contains(out, "True") ||
		!strings.Contains(out, "Running") || !strings.Contains(out, "6/6") || !strings.Contains(out, "16384/16384") {
		t.Errorf("kubectl get: %v\n%s", err, out)
	}
	harness.Consistently(t, rest, poll, func() error {
		if now := s.writes(began); !cmp.Equal(got, now) {
			return fmt.Errorf("writes at rest: %v", now)
		}
		return nil
	})
}

// writes are those of the manager, without the events that it tells.
func (s *stage) writes(since time.Time) map[string]int {
	s.Helper()
	all, err := s.bed.Writes(since, harness.User("valkey"))
	if err != nil {
		s.Fatal(err)
	}
	counts := bed.CountWrites(all)
	delete(counts, "create events.events.k8s.io")
	delete(counts, "patch events.events.k8s.io")
	delete(counts, "delete leases.coordination.k8s.io") // of clusters that are gone
	return counts
}

// TestReservationsGoWithTheirClusters: whoever begins to lead removes what is left of clusters that are gone.
func TestReservationsGoWithTheirClusters(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: read.LeaseName(c.UID)}}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, within, poll, func() error { return harness.Gone(t.Context(), s, c) })
	s.startManager() // another
	harness.Eventually(t, within, poll, func() error { return harness.Gone(t.Context(), s, lease) })
}

func moves(c *valkeyv1.ValkeyCluster) (list []string) {
	for _, h := range c.Status.History {
		list = append(list, fmt.Sprintf("%s %s", h.At.Format("05"), h.To))
	}
	return list
}

// TestHealing loses children and pods of a cluster that runs.
func TestHealing(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	s.comesBack(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}})
	// The last shard is not forgotten because its StatefulSet is gone.
	s.comesBack(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web-2"}})
	// Every pod is lost, and all data with them. The cluster is not made anew.
	if err := s.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(s.namespace)); err != nil {
		t.Fatal(err)
	}
	s.reaches(c, cluster.Failed)
	if ready := apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready); ready == nil || ready.Reason != string(cluster.ReasonDataLost) {
		t.Errorf("conditions %v", c.Status.Conditions)
	}
}

// comesBack deletes a child and waits until there is another.
func (s *stage) comesBack(child client.Object) {
	s.Helper()
	key := client.ObjectKeyFromObject(child)
	if err := s.Get(s.Context(), key, child); err != nil {
		s.Fatal(err)
	}
	was := child.GetUID()
	if err := s.Delete(s.Context(), child, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s, within, poll, func() error {
		if err := s.Get(s.Context(), key, child); err != nil {
			return err
		}
		if child.GetUID() == was {
			return fmt.Errorf("%s is still there", child.GetName())
		}
		return nil
	})
}
