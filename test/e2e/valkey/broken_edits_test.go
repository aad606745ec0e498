//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// healedWithin is how long a cluster may take to be what it was after a bad edit was taken back.
const healedWithin = time.Minute

// brokenEdit is an edit of a spec that pods cannot run by, and a word that the status must have about it.
type brokenEdit struct {
	what, says string
	edit       func(*valkeyv1.ValkeyClusterSpec)
}

func resources(name corev1.ResourceName, request, limit string) func(*valkeyv1.ValkeyClusterSpec) {
	return func(s *valkeyv1.ValkeyClusterSpec) {
		s.Resources = valkeyv1.Resources{Requests: s.Resources.Requests.DeepCopy(), Limits: corev1.ResourceList{}}
		s.Resources.Requests[name] = resource.MustParse(request)
		if limit != "" {
			s.Resources.Limits[name] = resource.MustParse(limit)
		}
	}
}

var elsewhere = corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "moon", Operator: corev1.NodeSelectorOpExists}}}

var brokenEdits = []brokenEdit{
	{"an image that does not exist", "ImagePullBackOff", func(s *valkeyv1.ValkeyClusterSpec) { s.Image = "bed.local/no-such-image:1" }},
	{"an image that is no name", "InvalidImageName", func(s *valkeyv1.ValkeyClusterSpec) { s.Image = "Valkey::8" }},
	{"an image without a server", "ends again and again", func(s *valkeyv1.ValkeyClusterSpec) { s.Image = "bed.local/pause:1" }},
	{"too little memory", "OOMKilled", resources(corev1.ResourceMemory, "6Mi", "6Mi")},
	{"more memory than any node has", "Insufficient memory", resources(corev1.ResourceMemory, "10Ti", "")},
	{"more than the limit", "must be less than or equal to memory limit", resources(corev1.ResourceMemory, "2Gi", "1Gi")},
	{"a selector that no node matches", "affinity/selector", func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.NodeSelector = map[string]string{"moon": "full"} }},
	{"an affinity that no node has", "affinity/selector", func(s *valkeyv1.ValkeyClusterSpec) {
		s.Scheduling.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{elsewhere}},
		}}
	}},
	{"a spread over what no node has", "topology spread", func(s *valkeyv1.ValkeyClusterSpec) {
		s.Scheduling.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "moon", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{},
		}}
	}},
	{"a priority class that does not exist", "PriorityClass", func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.PriorityClassName = "moon" }},
	{"more than the quota", "exceeded quota: small", resources(corev1.ResourceCPU, "600m", "")},
	{"a setting that does not exist", "no-such-directive", func(s *valkeyv1.ValkeyClusterSpec) {
		s.Config = map[string]valkeyv1.ConfigValue{"no-such-directive": "yes"}
	}},
}

// TestBrokenEdits makes edits that pods cannot run by, one after the other, and takes them back: the status says what is
// wrong, taking back is all that it takes, and clients notice nothing.
func TestBrokenEdits(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) {
		v.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	})
	s.must(s.Client.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: vkc.Namespace, Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("500m")}},
	}))
	good := s.fresh(vkc).Spec.DeepCopy()
	for _, e := range brokenEdits {
		t.Run(e.what, func(t *testing.T) { s.of(t).breakAndHeal(vkc, *good, e) })
	}
	t.Run("a storage class", func(t *testing.T) { s.of(t).refusesStorage(vkc) })
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
	t.Run("a label that no node has any more", func(t *testing.T) { s.of(t).losesItsNodes() })
}

// forCluster labels nodes that may have pods of a cluster.
const forCluster = "statecraft.test/for"

// losesItsNodes takes the label that a spec asks for from all nodes, and then all pods: none can run, and the spec is what to
// correct.
func (s *stage) losesItsNodes() {
	s.kubectl("label", "nodes", "--all", forCluster+"=valkey")
	vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) {
		onVolumes(v)
		v.Spec.Scheduling.NodeSelector = map[string]string{forCluster: "valkey"}
	})
	w.Stop()
	good := s.fresh(vkc).Spec.DeepCopy()
	good.Scheduling = valkeyv1.Scheduling{}
	s.kubectl("label", "nodes", "--all", forCluster+"-")
	s.deletePods(vkc, client.GracePeriodSeconds(0))
	s.toldAndHealed(vkc, *good, "affinity/selector")
	s.whole(vkc)
	w.Reconnect(s.T, s.addr(vkc))
	w.Check(s.T)
	s.empty(vkc.Namespace, vkc)
}

func (s *stage) breakAndHeal(vkc *valkeyv1.ValkeyCluster, good valkeyv1.ValkeyClusterSpec, e brokenEdit) {
	s.T.Helper()
	s.T.Cleanup(func() {
		if s.T.Failed() { // those after it begin with a cluster that is well
			s.dump(vkc.Namespace)
			s.change(vkc, func(v *valkeyv1.ValkeyCluster) { v.Spec = good })
			s.whole(vkc)
		}
	})
	s.change(vkc, func(v *valkeyv1.ValkeyCluster) { e.edit(&v.Spec) })
	s.toldAndHealed(vkc, good, e.says)
	s.whole(vkc)
}

// toldAndHealed waits until the status says what is wrong, and then takes it out of the spec: that is all that it takes.
func (s *stage) toldAndHealed(vkc *valkeyv1.ValkeyCluster, good valkeyv1.ValkeyClusterSpec, says string) {
	s.T.Helper()
	began := time.Now()
	harness.Eventually(s.T, 2*time.Minute, poll, func() error {
		ready := apimeta.FindStatusCondition(s.fresh(vkc).Status.Conditions, fsm.Ready)
		if ready.Status == metav1.ConditionTrue || ready.ObservedGeneration != vkc.Generation || !strings.Contains(ready.Message, says) {
			return fmt.Errorf("%s: Ready is %s: %s", vkc.Status.Phase, ready.Status, ready.Message)
		}
		return nil
	})
	told := time.Since(began)
	s.change(vkc, func(v *valkeyv1.ValkeyCluster) { v.Spec = good })
	began = time.Now()
	harness.Eventually(s.T, 3*healedWithin, poll, func() error {
		ready := apimeta.FindStatusCondition(s.fresh(vkc).Status.Conditions, fsm.Ready)
		if ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != vkc.Generation {
			return fmt.Errorf("%s: Ready is %s: %s", vkc.Status.Phase, ready.Status, ready.Message)
		}
		return nil
	})
	healed := time.Since(began)
	harness.Row(s.T, "told after %s, healed after %s", told.Round(100*time.Millisecond), healed.Round(100*time.Millisecond))
	if healed > healedWithin {
		s.T.Errorf("it took %s", healed)
	}
}

// refusesStorage tries what cannot be taken back, because claims cannot be changed: the API server refuses it.
func (s *stage) refusesStorage(vkc *valkeyv1.ValkeyCluster) {
	was := s.fresh(vkc).DeepCopy()
	vkc.Spec.Persistence.Enabled, vkc.Spec.Persistence.StorageClassName = true, new("moon")
	err := s.Client.Patch(s.T.Context(), vkc, client.MergeFrom(was))
	if err == nil || !strings.Contains(err.Error(), "claims of a StatefulSet cannot be changed") {
		s.T.Errorf("it was taken: %v", err)
	}
}
