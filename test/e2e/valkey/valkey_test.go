// Package valkey tests area valkey on a real node with real Valkey servers.
package valkey

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area  = "valkey"
	image = "bed.local/valkey:8.1"
	name  = "orders"
)

// Waiting, named once.
const (
	runningWithin = timeout.Wait // a cluster of six servers
	goneWithin    = timeout.Wait
	poll          = 50 * time.Millisecond
)

// stage is a bed with Valkey's image and the area's kinds and roles.
type stage struct{ *product.Stage }

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{product.NewStage(t, product.StageOptions{Area: area, Nodes: 3, Images: []string{image, images.ValkeyNode}})}
}

// create asks for a cluster of three masters with a replica each.
func (s *stage) create(namespace string) *valkeyv1.ValkeyCluster {
	s.T.Helper()
	return s.createOf(namespace, image)
}

func (s *stage) createOf(namespace, image string) *valkeyv1.ValkeyCluster {
	s.T.Helper()
	return s.createAs(namespace, func(vkc *valkeyv1.ValkeyCluster) { vkc.Spec.Image = image })
}

// createAs asks for a cluster that is changed before it is asked for.
func (s *stage) createAs(namespace string, change func(*valkeyv1.ValkeyCluster)) *valkeyv1.ValkeyCluster {
	s.T.Helper()
	vkc := &valkeyv1.ValkeyCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       valkeyv1.ValkeyClusterSpec{Image: image},
	}
	change(vkc)
	if err := s.Client.Create(s.T.Context(), vkc); err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		if s.T.Failed() {
			s.dump(vkc.Namespace)
		}
	})
	return vkc
}

// plain is a cluster as it is asked for by default.
func plain(*valkeyv1.ValkeyCluster) {}

// busy makes a cluster that runs, and writes to it until there is something to lose.
func (s *stage) busy(change func(*valkeyv1.ValkeyCluster)) (*valkeyv1.ValkeyCluster, *writer.Writer) {
	s.T.Helper()
	vkc := s.createAs(bedtest.Namespace(s.T, s.Bed), change)
	s.running(vkc)
	w := writer.Start(s.T, s.addr(vkc))
	w.Await(s.T, writesBefore)
	return vkc, w
}

// of is the stage for a test within a test.
func (s *stage) of(t *testing.T) *stage {
	within := *s.Stage
	within.T = t
	return &stage{&within}
}

// running waits until the cluster says that it runs.
func (s *stage) running(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
			return err
		}
		if vkc.Status.Phase != cluster.Running {
			return fmt.Errorf("%s is %s, waiting for %s", vkc.Name, vkc.Status.Phase, vkc.Status.WaitingFor)
		}
		return nil
	})
}

// sound lets Valkey's own tool judge the cluster, and compares its shape.
func (s *stage) sound(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	verdict := s.exec(vkc.Namespace, name+"-0-0", "valkey-cli", "--cluster", "check", "127.0.0.1:6379")
	for _, want := range []string{"All nodes agree about slots configuration", "All 16384 slots covered", "3 primaries"} {
		if !strings.Contains(verdict, want) {
			s.T.Errorf("valkey-cli does not say %q:\n%s", want, verdict)
		}
	}
	var shape []string
	for _, shard := range vkc.Status.Shards {
		shape = append(shape, fmt.Sprintf("%d: %d slots, %d replicas", shard.Index, shard.Slots, shard.ReadyReplicas))
	}
	const want = "0: 5462 slots, 1 replicas|1: 5461 slots, 1 replicas|2: 5461 slots, 1 replicas"
	if got := strings.Join(shape, "|"); got != want {
		s.T.Errorf("shards %s, want %s", got, want)
	}
	if vkc.Status.AssignedSlots != "16384/16384" || vkc.Status.ReadyNodes != "6/6" {
		s.T.Errorf("slots %s, nodes %s", vkc.Status.AssignedSlots, vkc.Status.ReadyNodes)
	}
}

// exec runs a command in a pod.
func (s *stage) exec(namespace, pod string, command ...string) string {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), 5*time.Minute)
	defer cancel()
	out, err := s.Bed.Kubectl(ctx, append([]string{"exec", "-n", namespace, pod, "--"}, command...)...)
	if err != nil {
		s.T.Fatalf("%v\n%s", err, out)
	}
	return out
}

// empty deletes a namespace's pods with their owners, and waits until none is left:
// on two cores they would be felt by what is measured next.
func (s *stage) empty(namespace string, owners ...client.Object) {
	s.T.Helper()
	for _, o := range owners {
		if err := client.IgnoreNotFound(s.Client.Delete(s.T.Context(), o, client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
			s.T.Fatal(err)
		}
	}
	harness.Eventually(s.T, goneWithin, poll, func() error {
		var pods corev1.PodList
		if err := s.Client.List(s.T.Context(), &pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return nil
	})
}
