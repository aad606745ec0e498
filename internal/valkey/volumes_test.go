package valkey

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestVolumesOutliveScalingByHand scales a StatefulSet of a paused cluster to nothing by hand: every volume stays.
func TestVolumesOutliveScalingByHand(t *testing.T) {
	s := newStage(t)
	c := s.createWith("web", func(c *valkeyv1.ValkeyCluster) { c.Spec.Persistence.Enabled = true })
	s.reaches(c, cluster.Running)
	before := s.claims(c)
	s.edit(c, func(c *valkeyv1.ValkeyCluster) { c.Spec.Paused = true })
	s.scaleByHand(c, "web-2", 0)
	s.podsLeft(c, 4)
	if after := s.claims(c); len(before) != 6 || !maps.Equal(after, before) {
		t.Errorf("claims are %v, were %v", after, before)
	}
}

// TestVolumesGoWithTheirServers removes replicas, and their volumes with them: those that are added later get new ones.
func TestVolumesGoWithTheirServers(t *testing.T) {
	s := newStage(t)
	c := s.createWith("web", func(c *valkeyv1.ValkeyCluster) { c.Spec.Persistence.Enabled = true })
	s.reaches(c, cluster.Running)
	before := s.claims(c)
	s.edit(c, func(c *valkeyv1.ValkeyCluster) { c.Spec.ReplicasPerMaster = ptr.To[int32](0) })
	s.hasSize(c, 3, 0)
	harness.Eventually(t, within, poll, func() error {
		if left := s.claims(c); len(left) != 3 {
			return fmt.Errorf("claims %v", left)
		}
		return nil
	})
	s.edit(c, func(c *valkeyv1.ValkeyCluster) { c.Spec.ReplicasPerMaster = ptr.To[int32](1) })
	s.hasSize(c, 3, 1)
	for name, uid := range s.claims(c) {
		if kept := before[name] == uid; kept != strings.HasSuffix(name, "-0") {
			t.Errorf("claim %s was kept: %t", name, kept)
		}
	}
}

func (s *stage) claims(c *valkeyv1.ValkeyCluster) map[string]types.UID {
	s.Helper()
	var list corev1.PersistentVolumeClaimList
	if err := s.List(s.Context(), &list, client.InNamespace(c.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: c.Name}); err != nil {
		s.Fatal(err)
	}
	claims := map[string]types.UID{}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			claims[p.Name] = p.UID
		}
	}
	return claims
}

func (s *stage) scaleByHand(c *valkeyv1.ValkeyCluster, name string, replicas int32) {
	s.Helper()
	set := &appsv1.StatefulSet{}
	if err := s.Get(s.Context(), client.ObjectKey{Namespace: c.Namespace, Name: name}, set); err != nil {
		s.Fatal(err)
	}
	was := set.DeepCopy()
	set.Spec.Replicas = ptr.To(replicas)
	if err := s.Patch(s.Context(), set, client.MergeFrom(was)); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) podsLeft(c *valkeyv1.ValkeyCluster, n int) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		var pods corev1.PodList
		if err := s.List(s.Context(), &pods, client.InNamespace(c.Namespace)); err != nil {
			return err
		}
		if len(pods.Items) != n {
			return fmt.Errorf("%d pods", len(pods.Items))
		}
		return nil
	})
}

func (s *stage) edit(c *valkeyv1.ValkeyCluster, change func(*valkeyv1.ValkeyCluster)) {
	s.Helper()
	was := c.DeepCopy()
	change(c)
	if err := s.Patch(s.Context(), c, client.MergeFrom(was)); err != nil {
		s.Fatal(err)
	}
}
