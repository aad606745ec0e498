//go:build full

package valkey

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestDisasterShardLost deletes all pods of one shard of a cluster that has its data in memory only. The user says whether
// an empty shard is better than none; once that is said, it needs nobody.
func TestDisasterShardLost(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	for _, replicas := range []int32{0, 1} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			s := s.of(t)
			vkc := s.createAs(bedtest.Namespace(t, s.Bed), func(v *valkeyv1.ValkeyCluster) { v.Spec.ReplicasPerMaster = ptr.To(replicas) })
			s.running(vkc)
			s.loseShards(vkc, "1")
			harness.Eventually(t, runningWithin, poll, func() error {
				s.must(s.Client.Get(t.Context(), client.ObjectKeyFromObject(vkc), vkc))
				ready := apimeta.FindStatusCondition(vkc.Status.Conditions, fsm.Ready)
				if ready == nil || ready.Reason != string(cluster.ReasonDataLost) || vkc.Status.Phase != cluster.Degraded {
					return fmt.Errorf("is %s, waiting for %q", vkc.Status.Phase, vkc.Status.WaitingFor)
				}
				return nil
			})
			was := vkc.DeepCopy()
			vkc.Spec.OnTotalLoss = valkeyv1.RecreateOnTotalLoss
			s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(was)))
			s.whole(vkc)
			for range rounds - 1 {
				began := time.Now()
				s.loseShards(vkc, "1")
				s.whole(vkc)
				harness.Row(t, "%d replicas: serves again, empty, after %s", replicas, time.Since(began).Round(100*time.Millisecond))
			}
			began := time.Now()
			s.loseShards(vkc, "1", "2") // and with them the majority
			s.whole(vkc)
			harness.Row(t, "%d replicas, two of three shards: serves again, empty, after %s", replicas, time.Since(began).Round(100*time.Millisecond))
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// TestDisasterShardLostByHalves: a primary that has its data in memory loses it while its replica is replaced. It waits
// for that replica, which nobody will ever see again.
func TestDisasterShardLostByHalves(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc := s.createAs(bedtest.Namespace(t, s.Bed), func(v *valkeyv1.ValkeyCluster) { v.Spec.OnTotalLoss = valkeyv1.RecreateOnTotalLoss })
	s.running(vkc)
	for range rounds {
		began, was := time.Now(), s.pods(vkc)
		replica := s.replicaOf(vkc, 1)
		primary := vkc.Status.Shards[1].Primary
		gone := was[replica]
		s.signal(gone, "SIGSTOP") // or it would take over before it ends
		s.must(s.Client.Delete(t.Context(), &gone, client.GracePeriodSeconds(0)))
		s.signal(was[primary], "SIGKILL")
		s.replaced(vkc, map[string]corev1.Pod{replica: was[replica], primary: was[primary]})
		s.whole(vkc)
		harness.Row(t, "serves again, empty, after %s", time.Since(began).Round(100*time.Millisecond))
	}
	s.empty(vkc.Namespace, vkc)
}

// loseShards deletes the pods of shards at once and without a warning.
func (s *stage) loseShards(vkc *valkeyv1.ValkeyCluster, shards ...string) {
	s.T.Helper()
	was := s.pods(vkc)
	for name, p := range was {
		if !slices.Contains(shards, p.Labels[valkeyv1.ShardLabel]) {
			delete(was, name)
			continue
		}
		s.must(s.Client.Delete(s.T.Context(), &p, client.GracePeriodSeconds(0)))
	}
	s.replaced(vkc, was)
}
