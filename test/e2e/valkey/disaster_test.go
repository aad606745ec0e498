package valkey

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// outageAtMost is how long the slots of a primary may be without one when its process
// is killed: a quarter of what the servers need by themselves.
const outageAtMost = 2200 * time.Millisecond

// TestDisasterPrimaryKilled kills the process of one primary after the other.
func TestDisasterPrimaryKilled(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	vkc := s.create(bedtest.Namespace(t, s.b))
	s.running(vkc)
	w := startWriter(t, s.addr(vkc))
	w.await(t, writesBefore)
	var outages []time.Duration
	for i := range harness.ByLevel(1, 3) {
		primary := vkc.Status.Shards[i%len(vkc.Status.Shards)].Primary
		w.lap()
		s.signal(vkc.Namespace, primary, "SIGKILL")
		s.restarted(vkc, primary)
		s.whole(vkc)
		outages = append(outages, w.lap())
	}
	w.report(t)
	for _, outage := range outages {
		t.Logf("writes failed for %s after SIGKILL", outage.Round(time.Millisecond))
		if outage > outageAtMost {
			t.Errorf("want at most %s", outageAtMost)
		}
	}
	s.empty(vkc.Namespace, vkc)
}

// TestDisasterAllPodsDeleted deletes all pods at once. They come back with other
// addresses, and, on volumes, with all that was written.
func TestDisasterAllPodsDeleted(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	vkc := s.createAs(bedtest.Namespace(t, s.b), func(v *valkeyv1.ValkeyCluster) { v.Spec.Persistence.Enabled = true })
	s.running(vkc)
	w := startWriter(t, s.addr(vkc))
	w.await(t, writesBefore)
	w.stop()
	for range harness.ByLevel(1, 3) {
		was := s.pods(vkc)
		if err := s.c.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(vkc.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name}); err != nil {
			t.Fatal(err)
		}
		s.replaced(vkc, was)
		s.whole(vkc)
	}
	w.reconnect(t, s.addr(vkc))
	w.check(t)
	s.empty(vkc.Namespace, vkc)
}

// signal sends a signal to the server of a pod.
func (s *stage) signal(namespace, pod, signal string) {
	s.t.Helper()
	var p corev1.Pod
	if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: pod}, &p); err != nil {
		s.t.Fatal(err)
	}
	node, found := s.b.NodeOf(p.Spec.NodeName)
	if !found {
		s.t.Fatalf("%s is on no node of the bed", pod)
	}
	id := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
	if err := node.Signal(s.t.Context(), id, signal); err != nil {
		s.t.Fatal(err)
	}
}
