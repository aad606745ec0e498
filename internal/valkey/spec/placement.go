package spec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// placement keeps the pods of one shard on different nodes, wherever there are any that may run them, and in different
// zones as far as possible: a node that dies takes one copy of the data with it. The cluster as a whole is spread as far
// as possible, so that a node has few of its pods, and a drain needs few of them to be away at once.
func placement(c *valkeyv1.ValkeyCluster, shard int) []corev1.TopologySpreadConstraint {
	theirs := c.Spec.Scheduling.TopologySpreadConstraints
	constraints := []corev1.TopologySpreadConstraint{
		spread(corev1.LabelHostname, corev1.DoNotSchedule, shardLabels(c, shard)),
		spread(corev1.LabelTopologyZone, corev1.ScheduleAnyway, shardLabels(c, shard)),
		spread(corev1.LabelHostname, corev1.ScheduleAnyway, Labels(c)),
	}
	// Kubernetes takes one constraint of a kind. The user knows better where it is a matter of taste.
	constraints = slices.DeleteFunc(constraints, func(ours corev1.TopologySpreadConstraint) bool {
		return slices.ContainsFunc(theirs, func(t corev1.TopologySpreadConstraint) bool {
			return t.TopologyKey == ours.TopologyKey && t.WhenUnsatisfiable == ours.WhenUnsatisfiable
		})
	})
	return append(constraints, theirs...)
}

// spread does not count nodes that take no pods, or a drain would leave a pod without a place.
func spread(topology string, otherwise corev1.UnsatisfiableConstraintAction, labels map[string]string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: otherwise,
		LabelSelector:      &metav1.LabelSelector{MatchLabels: labels},
		NodeAffinityPolicy: ptr.To(corev1.NodeInclusionPolicyHonor),
		NodeTaintsPolicy:   ptr.To(corev1.NodeInclusionPolicyHonor),
	}
}
