package valkey

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// writesBefore is how much is written before a cluster is scaled, so that there is
// something to lose.
const writesBefore = writer.Keys

type size struct{ masters, replicas int32 }

// TestScaleLosesNothing takes a cluster to other sizes and back under a writer. Slots
// move as a whole on 9.1, and key by key below.
func TestScaleLosesNothing(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	images := []string{"bed.local/valkey:9.1", "bed.local/valkey:8.1"}
	sizes := harness.ByLevel(
		[]size{{4, 1}, {3, 1}},
		[]size{{6, 1}, {3, 1}, {3, 2}, {3, 1}, {3, 0}, {3, 1}, {4, 0}, {3, 1}})
	if err := s.Bed.LoadImages(t.Context(), images...); err != nil {
		t.Fatal(err)
	}
	for _, image := range images[:harness.ByLevel(1, len(images))] {
		t.Run(strings.TrimPrefix(image, "bed.local/"), func(t *testing.T) {
			s := s.of(t)
			vkc := s.createOf(bedtest.Namespace(t, s.Bed), image)
			s.running(vkc)
			w := writer.Start(t, s.addr(vkc))
			w.Await(t, writesBefore)
			for _, to := range sizes {
				s.rescale(vkc, to)
			}
			w.Check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// rescale changes the size of a cluster and waits until it has it.
func (s *stage) rescale(vkc *valkeyv1.ValkeyCluster, to size) {
	s.T.Helper()
	began := time.Now()
	s.resize(vkc, to)
	harness.Eventually(s.T, runningWithin, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
			return err
		}
		return has(vkc, to)
	})
	harness.Row(s.T, "%d × %d after %s", to.masters, to.replicas, time.Since(began).Round(10*time.Millisecond))
	verdict := s.exec(vkc.Namespace, vkc.Name+"-0-0", "valkey-cli", "--cluster", "check", "127.0.0.1:6379")
	for _, want := range []string{"All nodes agree about slots configuration", "All 16384 slots covered", fmt.Sprintf("%d primaries", to.masters)} {
		if !strings.Contains(verdict, want) {
			s.T.Errorf("valkey-cli does not say %q:\n%s", want, verdict)
		}
	}
}

// resize asks for another size.
func (s *stage) resize(vkc *valkeyv1.ValkeyCluster, to size) {
	s.T.Helper()
	was := vkc.DeepCopy()
	vkc.Spec.Masters, vkc.Spec.ReplicasPerMaster = to.masters, ptr.To(to.replicas)
	if err := s.Client.Patch(s.T.Context(), vkc, client.MergeFrom(was)); err != nil {
		s.T.Fatal(err)
	}
}

// has says nil when a cluster runs in a size, with equal shares.
func has(vkc *valkeyv1.ValkeyCluster, to size) error {
	nodes := to.masters * (1 + to.replicas)
	if vkc.Status.Phase != cluster.Running || vkc.Status.Masters != to.masters || vkc.Status.ReadyNodes != fmt.Sprintf("%d/%d", nodes, nodes) {
		return fmt.Errorf("is %s, waiting for %q, with %s nodes", vkc.Status.Phase, vkc.Status.WaitingFor, vkc.Status.ReadyNodes)
	}
	for _, shard := range vkc.Status.Shards {
		if share := valkeyv1.Slots / to.masters; shard.Slots < share || shard.Slots > share+1 || shard.ReadyReplicas != to.replicas {
			return fmt.Errorf("shard %+v", shard)
		}
	}
	return nil
}
