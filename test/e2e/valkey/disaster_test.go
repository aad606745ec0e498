package valkey

import (
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	// outageAtMost is how long the slots of a primary may be without one when its process
	// is killed on a machine that does not stand still: a quarter of what the servers need by
	// themselves.
	outageAtMost = 2200 * time.Millisecond
	// unsentAtMost is how many writes a server may have acknowledged and not yet sent to
	// its replica when it dies. An emptied replica would be thousands.
	unsentAtMost = 50
)

// TestDisasterPrimaryKilled kills the process of one primary after the other. They have
// their data in memory only, and come back at once, without it.
func TestDisasterPrimaryKilled(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(plain)
	for i := range harness.ByLevel(1, 3) {
		shard := vkc.Status.Shards[i%len(vkc.Status.Shards)]
		p := startProbe(t, s.addrOf(vkc, shard.Primary))
		promoted := awaitPrimary(t, s.addrOf(vkc, s.otherOf(vkc, shard.Primary)))
		p.lap()
		stall, began := harness.StartStall(t), time.Now()
		s.signal(s.pods(vkc)[shard.Primary], "SIGKILL")
		s.restarted(vkc, shard.Primary)
		s.whole(vkc)
		p.stop()
		outage, stalled := p.lap(), stall.Lap()
		select {
		case at := <-promoted:
			harness.Row(t, "no writes for %s after SIGKILL of a primary; its replica was the primary after %s", outage, at.Sub(began).Round(time.Millisecond))
		default:
			t.Errorf("no writes for %s after SIGKILL of a primary, and its replica did not take over", outage)
		}
		if outage > outageAtMost+stalled {
			t.Errorf("want at most %s; the machine stood still for %s", outageAtMost, stalled)
		}
	}
	if lost := w.Report(t); len(lost) > unsentAtMost {
		t.Errorf("lost, among others: %v", lost[:3])
	}
	s.empty(vkc.Namespace, vkc)
}

// otherOf is the other pod of a shard of two.
func (s *stage) otherOf(vkc *valkeyv1.ValkeyCluster, pod string) string {
	s.T.Helper()
	set := pod[:strings.LastIndexByte(pod, '-')+1]
	for name := range s.pods(vkc) {
		if name != pod && strings.HasPrefix(name, set) {
			return name
		}
	}
	s.T.Fatalf("%s is alone in its shard", pod)
	return ""
}

// roleEvery is how often a replica is asked whether it is the primary by now.
const roleEvery = 5 * time.Millisecond

// awaitPrimary tells when a server first says that it is a primary: clients find out later.
func awaitPrimary(t *testing.T, addr string) <-chan time.Time {
	t.Helper()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	is := make(chan time.Time, 1)
	go func() {
		defer close(is)
		for t.Context().Err() == nil {
			if role, err := c.Do(t.Context(), c.B().Role().Build()).ToArray(); err == nil && len(role) > 0 {
				if name, _ := role[0].ToString(); name == "master" {
					is <- time.Now()
					return
				}
			}
			<-time.After(roleEvery)
		}
	}()
	return is
}

// signal sends a signal to the server of a pod.
func (s *stage) signal(p corev1.Pod, signal string) {
	s.T.Helper()
	id := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
	if err := s.nodeOf(p).Signal(s.T.Context(), id, signal); err != nil {
		s.T.Fatal(err)
	}
}

func (s *stage) nodeOf(p corev1.Pod) *bed.Node {
	s.T.Helper()
	node, found := s.Bed.NodeOf(p.Spec.NodeName)
	if !found {
		s.T.Fatalf("%s is on no node of the bed", p.Name)
	}
	return node
}
