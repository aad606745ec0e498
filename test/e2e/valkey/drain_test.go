//go:build full

package valkey

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestDisasterNodesDrained drains one node after the other under a writer, and waits for
// nothing between them: it is for the cluster to keep its copies. Every primary hands over
// before it goes, so no request fails.
func TestDisasterNodesDrained(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	const class = "local"
	s.must(s.Bed.LocalVolumes(t.Context(), class, 4))
	for what, change := range map[string]func(*valkeyv1.ValkeyCluster){
		"in memory": plain,
		// A pod cannot leave the node of its volume, so as many must be allowed to be away as a node has.
		"on local volumes": func(v *valkeyv1.ValkeyCluster) {
			v.Spec.Persistence.Enabled, v.Spec.Persistence.StorageClassName = true, new(class)
			v.Spec.PodDisruptionBudget.MaxUnavailable = new(intstr.FromInt32(2))
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := s.of(t)
			vkc, w := s.busy(change)
			s.spread(vkc.Namespace, vkc.Name)
			// Whatever comes: the tests after this need all nodes.
			t.Cleanup(func() { _, _ = s.Bed.Kubectl(context.Background(), "uncordon", "--selector=kubernetes.io/hostname") })
			for range rounds {
				for _, node := range s.Bed.Nodes() {
					began := time.Now()
					s.kubectl("drain", node.Name(), "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=3m")
					s.kubectl("uncordon", node.Name())
					harness.Row(t, "%s drained in %s", node.Name(), time.Since(began).Round(100*time.Millisecond))
				}
			}
			s.whole(vkc)
			w.Check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}

func (s *stage) kubectl(args ...string) {
	s.T.Helper()
	if out, err := s.Bed.Kubectl(s.T.Context(), args...); err != nil {
		s.T.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// spread checks that no two pods of a shard share a node.
func (s *stage) spread(namespace, cluster string) {
	s.T.Helper()
	for shard := range 3 {
		nodes := map[string]string{}
		for ordinal := range 2 {
			pod := fmt.Sprintf("%s-%d-%d", cluster, shard, ordinal)
			out, err := s.Bed.Kubectl(s.T.Context(), "get", "pod", "-n", namespace, pod, "-o", "jsonpath={.spec.nodeName}")
			if err != nil {
				s.T.Fatal(err)
			}
			if other := nodes[out]; other != "" {
				s.T.Errorf("%s and %s are both on %s", pod, other, out)
			}
			nodes[out] = pod
		}
	}
}
