package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Scheduling is where pods may run, as in a pod. That the pods of one shard are kept on
// different nodes, where there are any, is not up to it.
type Scheduling struct {
	// nodeSelector is what labels a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity to nodes and other pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints in addition to the operator's own, which keep pods of a
	// shard on different nodes, and spread shards over zones and the cluster over nodes as
	// far as possible. One of yours takes the place of the operator's with the same
	// topologyKey and whenUnsatisfiable, but not of the first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="!self.exists(c, c.topologyKey == 'kubernetes.io/hostname' && c.whenUnsatisfiable == 'DoNotSchedule')",message="pods of a shard are kept on different nodes by the operator: give another topologyKey, or ScheduleAnyway"
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// DisruptionBudget is how many pods may be away on purpose.
type DisruptionBudget struct {
	// maxUnavailable is how many pods of the cluster may be drained at a time, as a number
	// or a percentage. A node whose volumes cannot be had elsewhere is drained only if all
	// its pods of the cluster may go. Default 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
