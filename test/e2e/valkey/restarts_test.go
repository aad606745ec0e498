//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const rounds = 3

func onVolumes(v *valkeyv1.ValkeyCluster) { v.Spec.Persistence.Enabled = true }

func (s *stage) deletePods(vkc *valkeyv1.ValkeyCluster, how ...client.DeleteAllOfOption) {
	s.T.Helper()
	how = append(how, client.InNamespace(vkc.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name})
	s.must(s.Client.DeleteAllOf(s.T.Context(), &corev1.Pod{}, how...))
}

// TestDisasterAllPodsDeleted deletes all pods at once. They come back with other addresses, and, on volumes, with all
// that was written.
func TestDisasterAllPodsDeleted(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(onVolumes)
	w.Stop()
	for range rounds {
		began, was := time.Now(), s.pods(vkc)
		s.deletePods(vkc)
		s.replaced(vkc, was)
		s.whole(vkc)
		harness.Row(t, "whole after %s", time.Since(began).Round(100*time.Millisecond))
	}
	w.Reconnect(t, s.addr(vkc))
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

// TestDisasterAllDataLost deletes all pods of a cluster that has its data in memory only. It is for the user to say
// whether an empty cluster is better than none.
func TestDisasterAllDataLost(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(plain)
	w.Stop()
	// At once and without a warning: those that may end by themselves leave a copy where they can.
	s.deletePods(vkc, client.GracePeriodSeconds(0))
	harness.Eventually(t, runningWithin, poll, func() error {
		s.must(s.Client.Get(t.Context(), client.ObjectKeyFromObject(vkc), vkc))
		for _, c := range vkc.Status.Conditions {
			if vkc.Status.Phase == cluster.Failed && c.Reason == "DataLost" {
				return nil
			}
		}
		return fmt.Errorf("is %s, waiting for %q", vkc.Status.Phase, vkc.Status.WaitingFor)
	})
	was := vkc.DeepCopy()
	vkc.Spec.OnTotalLoss = valkeyv1.RecreateOnTotalLoss
	s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(was)))
	s.whole(vkc)
	harness.Row(t, "Failed with DataLost; re-created once onTotalLoss said so")
	s.empty(vkc.Namespace, vkc)
}

// TestDisasterAllKilledAtBirth kills every server in the moment in which their cluster has formed: below 9 they wrote
// files by then with which they would not start again.
func TestDisasterAllKilledAtBirth(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey80))
	for _, image := range []string{images.Valkey80, images.Valkey81} {
		t.Run(strings.TrimPrefix(image, "bed.local/"), func(t *testing.T) {
			for range rounds {
				s := s.of(t)
				vkc := s.createAs(bedtest.Namespace(t, s.Bed), func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = image; onVolumes(v) })
				s.running(vkc)
				was := s.pods(vkc)
				for _, p := range was {
					s.signal(p, "SIGKILL")
				}
				for name := range was {
					s.restarted(vkc, name)
				}
				s.whole(vkc)
				harness.Row(t, "all killed as soon as the cluster ran: whole again")
				s.empty(vkc.Namespace, vkc)
			}
		})
	}
}

// TestDisasterRuntimeCrashes kills containerd on every node, under a writer. Nobody notices.
func TestDisasterRuntimeCrashes(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(plain)
	for range rounds {
		for _, node := range s.Bed.Nodes() {
			s.must(node.Crash(t.Context(), bed.Containerd))
		}
		s.whole(vkc)
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}
