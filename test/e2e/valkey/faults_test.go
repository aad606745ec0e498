//go:build full

package valkey

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// faultLasts is longer than the servers need to agree that one of them is gone.
const faultLasts = 30 * time.Second

// fault is something that happens to a primary, and how it ends.
type fault struct {
	name         string
	strike, mend func(*stage, corev1.Pod)
}

var faults = []fault{
	{"its process is stopped", signalled("SIGSTOP"), signalled("SIGCONT")},
	{
		"it is partitioned",
		func(s *stage, p corev1.Pod) { s.must(s.nodeOf(p).Isolate(s.T.Context(), p.Status.PodIP)) },
		func(s *stage, p corev1.Pod) { s.must(s.nodeOf(p).Rejoin(s.T.Context(), p.Status.PodIP)) },
	},
	{"its node is cut off", onNode((*bed.Node).Cut), onNode((*bed.Node).Heal)},
	{"its node is frozen", onNode((*bed.Node).Freeze), onNode((*bed.Node).Thaw)},
	{"its node is powered off", onNode((*bed.Node).PowerOff), onNode((*bed.Node).PowerOn)},
}

func signalled(signal string) func(*stage, corev1.Pod) {
	return func(s *stage, p corev1.Pod) { s.signal(p, signal) }
}

func onNode(do func(*bed.Node, context.Context) error) func(*stage, corev1.Pod) {
	return func(s *stage, p corev1.Pod) { s.must(do(s.nodeOf(p), s.T.Context())) }
}

func (s *stage) must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// TestDisasterPrimaryLost takes a primary away for a while, in every way that there is. Each time the cluster is
// whole again, with everything that was sent to a replica before.
func TestDisasterPrimaryLost(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			s := s.of(t)
			vkc, w := s.busy(plain)
			for i := range 3 {
				primary := s.pods(vkc)[vkc.Status.Shards[i].Primary]
				p := startProbe(t, s.addrOf(vkc, primary.Name))
				p.lap()
				f.strike(s, primary)
				<-time.After(faultLasts)
				f.mend(s, primary)
				s.whole(vkc)
				p.stop()
				harness.Row(t, "no writes for %s", p.lap())
				s.spreads(vkc)
			}
			if lost := w.Report(t); len(lost) > unsentAtMost {
				t.Errorf("lost, among others: %v", lost[:3])
			}
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// spreadWithin is how long a node may keep the majority of the primaries where that can be helped.
const spreadWithin = time.Minute

// spreads waits until no node has the majority of the primaries. Where replicas lie so that this cannot be, the next fault
// finds the cluster as it is.
func (s *stage) spreads(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	for began := time.Now(); time.Since(began) < spreadWithin; <-time.After(time.Second) {
		primaries, most, pods := map[string]int{}, 0, s.pods(s.fresh(vkc))
		for _, shard := range vkc.Status.Shards {
			on := pods[shard.Primary].Spec.NodeName
			primaries[on]++
			most = max(most, primaries[on])
		}
		if 2*most <= len(vkc.Status.Shards) {
			return
		}
	}
	s.T.Log("one node keeps the majority of the primaries")
}

// TestDisasterBareEngine does the same to servers that nobody looks after: what there is to compare with.
func TestDisasterBareEngine(t *testing.T) {
	s := newStage(t)
	killed := fault{"its process is killed", signalled("SIGKILL"), func(*stage, corev1.Pod) {}}
	for _, f := range append([]fault{killed}, faults...) {
		t.Run(f.name, func(t *testing.T) {
			s := s.of(t)
			servers, addrs := s.bareCluster()
			w := writer.Start(t, addrs[0])
			w.Await(t, writesBefore)
			primary := s.barePod(servers.Namespace, addrs[0]) // valkey-cli makes the first ones primaries
			p := startProbe(t, addrs[0])
			p.lap()
			f.strike(s, primary)
			<-time.After(faultLasts)
			f.mend(s, primary)
			p.stop()
			harness.Row(t, "bare: no writes for %s", p.lap())
			w.Report(t)
			s.empty(servers.Namespace, servers)
		})
	}
}
