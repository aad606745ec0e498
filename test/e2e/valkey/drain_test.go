package valkey

import (
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestDisasterNodesDrained drains one node after the other under a writer, and waits for
// nothing between them: it is for the cluster to keep its copies. Every primary hands over
// before it goes, so no request fails.
func TestDisasterNodesDrained(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	vkc := s.create(bedtest.Namespace(t, s.b))
	s.running(vkc)
	s.spread(vkc.Namespace, vkc.Name)
	w := startWriter(t, s.addr(vkc))
	w.await(t, writesBefore)
	for range harness.ByLevel(1, 3) {
		for _, node := range s.b.Nodes() {
			began := time.Now()
			s.kubectl("drain", node.Name(), "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=3m")
			s.kubectl("uncordon", node.Name())
			t.Logf("%s drained in %s", node.Name(), time.Since(began).Round(100*time.Millisecond))
		}
	}
	s.whole(vkc)
	w.check(t)
	s.empty(vkc.Namespace, vkc)
}

func (s *stage) kubectl(args ...string) {
	s.t.Helper()
	if out, err := s.b.Kubectl(s.t.Context(), args...); err != nil {
		s.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// spread checks that no two pods of a shard share a node.
func (s *stage) spread(namespace, cluster string) {
	s.t.Helper()
	for shard := range 3 {
		nodes := map[string]string{}
		for ordinal := range 2 {
			pod := fmt.Sprintf("%s-%d-%d", cluster, shard, ordinal)
			out, err := s.b.Kubectl(s.t.Context(), "get", "pod", "-n", namespace, pod, "-o", "jsonpath={.spec.nodeName}")
			if err != nil {
				s.t.Fatal(err)
			}
			if other := nodes[out]; other != "" {
				s.t.Errorf("%s and %s are both on %s", pod, other, out)
			}
			nodes[out] = pod
		}
	}
}
