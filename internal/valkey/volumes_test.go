package valkey

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
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

// TestVolumesGrow raises spec.persistence.size. A class that lets volumes grow is asked to; for another the status says what
// to do, and once that is done the volumes grow.
func TestVolumesGrow(t *testing.T) {
	for _, expandable := range []bool{true, false} {
		t.Run(fmt.Sprintf("the class allows it: %t", expandable), func(t *testing.T) {
			s := newStage(t)
			class := s.class(expandable)
			c := s.createWith("web", func(c *valkeyv1.ValkeyCluster) {
				c.Spec.Persistence = valkeyv1.Persistence{Enabled: true, StorageClassName: &class.Name, Size: ptr.To(resource.MustParse("1Gi"))}
			})
			s.reaches(c, cluster.Running)
			s.bindClaims(c)
			s.edit(c, func(c *valkeyv1.ValkeyCluster) { c.Spec.Persistence.Size = ptr.To(resource.MustParse("2Gi")) })
			if !expandable {
				s.notReady(c, `StorageClass "`+class.Name+`" does not allow it: set allowVolumeExpansion`)
				s.claimsAskFor(c, "1Gi")
				class.AllowVolumeExpansion = ptr.To(true)
				if err := s.Update(t.Context(), class); err != nil {
					t.Fatal(err)
				}
			}
			s.claimsAskFor(c, "2Gi")
			s.notReady(c, "not have a volume of spec.persistence.size yet")
			s.resizeVolumes(c, "2Gi")
			harness.Eventually(t, within, poll, func() error { return s.readyNow(c) })
		})
	}
}

// class is a storage class of which this test provides the volumes.
func (s *stage) class(expandable bool) *storagev1.StorageClass {
	s.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "by-hand-"}, Provisioner: "statecraft.test/by-hand", AllowVolumeExpansion: &expandable,
	}
	if err := s.Create(s.Context(), class); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.Delete(context.Background(), class) })
	return class
}

// bindClaims waits for the claims of six servers, and gives each a volume of the size that it asks for.
func (s *stage) bindClaims(c *valkeyv1.ValkeyCluster) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		if n := len(s.claimList(c)); n < 6 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
	for _, p := range s.claimList(c) {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{GenerateName: p.Name + "-"},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: p.Spec.Resources.Requests, AccessModes: p.Spec.AccessModes, StorageClassName: *p.Spec.StorageClassName,
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
				PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
			},
		}
		if err := s.Create(s.Context(), volume); err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() { _ = s.Delete(context.Background(), volume) })
	}
	harness.Eventually(s, within, poll, func() error {
		for _, p := range s.claimList(c) {
			if p.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("claim %s is %s", p.Name, p.Status.Phase)
			}
		}
		return nil
	})
}

// resizeVolumes says, as a driver would, that volumes are as large as was asked for.
func (s *stage) resizeVolumes(c *valkeyv1.ValkeyCluster, size string) {
	s.Helper()
	for _, p := range s.claimList(c) {
		was := p.DeepCopy()
		p.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		if err := s.Status().Patch(s.Context(), &p, client.MergeFrom(was)); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *stage) claimsAskFor(c *valkeyv1.ValkeyCluster, size string) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		for _, p := range s.claimList(c) {
			if asks := p.Spec.Resources.Requests[corev1.ResourceStorage]; asks.String() != size {
				return fmt.Errorf("claim %s asks for %s: %+v", p.Name, asks.String(), s.ready(c))
			}
		}
		return nil
	})
}

func (s *stage) ready(c *valkeyv1.ValkeyCluster) *metav1.Condition {
	s.Helper()
	if err := s.Get(s.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		s.Fatal(err)
	}
	return apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready)
}

// notReady waits until the status says that the spec is not reached, and why.
func (s *stage) notReady(c *valkeyv1.ValkeyCluster, why string) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		ready := s.ready(c)
		if ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != c.Generation || !strings.Contains(ready.Message, why) {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
}

// readyNow says nil if the spec, as it is now, is reached.
func (s *stage) readyNow(c *valkeyv1.ValkeyCluster) error {
	s.Helper()
	if ready := s.ready(c); ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != c.Generation {
		return fmt.Errorf("Ready is %+v", ready)
	}
	return nil
}

func (s *stage) claimList(c *valkeyv1.ValkeyCluster) []corev1.PersistentVolumeClaim {
	s.Helper()
	var list corev1.PersistentVolumeClaimList
	if err := s.List(s.Context(), &list, client.InNamespace(c.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: c.Name}); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

func (s *stage) claims(c *valkeyv1.ValkeyCluster) map[string]types.UID {
	s.Helper()
	claims := map[string]types.UID{}
	for _, p := range s.claimList(c) {
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
