package valkey

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Caches are what the area caches: its own kinds, and of the kinds of its children those that bear
// the name of a cluster. All children and pods do, from when they are made; one that lost the
// label is read live, see observe. Secrets and revisions are read live always: few looks
// need them, and Secrets of others are nothing to hold.
func Caches() []kube.Cached {
	ours := kube.HasLabel(valkeyv1.ClusterLabel)
	return []kube.Cached{
		{Of: &valkeyv1.ValkeyCluster{}}, {Of: &valkeyv1.ValkeyUpgrade{}},
		{Of: &corev1.Service{}, Labels: ours}, {Of: &corev1.ConfigMap{}, Labels: ours}, {Of: &corev1.Pod{}, Labels: ours},
		{Of: &policyv1.PodDisruptionBudget{}, Labels: ours}, {Of: &appsv1.StatefulSet{}, Labels: ours},
		{Of: &corev1.PersistentVolumeClaim{}, Labels: ours},
	}
}
