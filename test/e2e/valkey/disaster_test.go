package valkey

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	// outageAtMost is how long the slots of a primary may be without one when its process
	// is killed: a quarter of what the servers need by themselves.
	outageAtMost = 2200 * time.Millisecond
	// unsentAtMost is how many writes a server may have acknowledged and not yet sent to
	// its replica when it dies. An emptied replica would be thousands.
	unsentAtMost = 50
)

// TestDisasterPrimaryKilled kills the process of one primary after the other. They have
// their data in memory only, and come back at once, without it.
func TestDisasterPrimaryKilled(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	vkc, w := s.busy(plain)
	for i := range harness.ByLevel(1, 3) {
		primary := vkc.Status.Shards[i%len(vkc.Status.Shards)].Primary
		p := startProbe(t, s.addrOf(vkc, primary))
		p.lap()
		s.signal(s.pods(vkc)[primary], "SIGKILL")
		s.restarted(vkc, primary)
		s.whole(vkc)
		p.stop()
		outage := p.lap()
		harness.Row(t, "no writes for %s after SIGKILL of a primary", outage)
		if outage > outageAtMost {
			t.Errorf("want at most %s", outageAtMost)
		}
	}
	if lost := w.report(t); len(lost) > unsentAtMost {
		t.Errorf("lost, among others: %v", lost[:3])
	}
	s.empty(vkc.Namespace, vkc)
}

// signal sends a signal to the server of a pod.
func (s *stage) signal(p corev1.Pod, signal string) {
	s.t.Helper()
	id := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
	if err := s.nodeOf(p).Signal(s.t.Context(), id, signal); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) nodeOf(p corev1.Pod) *bed.Node {
	s.t.Helper()
	node, found := s.b.NodeOf(p.Spec.NodeName)
	if !found {
		s.t.Fatalf("%s is on no node of the bed", p.Name)
	}
	return node
}
