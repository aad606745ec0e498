package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ValkeyClusterStatus is the cluster as it was last seen. Clients wait on
// conditions; the rest is for people.
type ValkeyClusterStatus struct {
	meta.Progress `json:",inline"`
	// readyNodes is how many servers are ready, of how many there should be: "6/6".
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ReadyNodes string `json:"readyNodes,omitempty"`
	// assignedSlots is how many slots have an owner, of how many: "16384/16384".
	// +optional
	// +kubebuilder:validation:MaxLength=16
	AssignedSlots string `json:"assignedSlots,omitempty"`
	// masters is the number of shards that exist.
	// +optional
	Masters int32 `json:"masters,omitempty"`
	// shards are the shards that exist, in order.
	// +optional
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=250
	Shards []ShardStatus `json:"shards,omitempty"`
	// image is the image that all pods run; it is empty while they differ.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// version is the lowest version that a server answered with.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`
	// selector finds one pod of each shard, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Selector string `json:"selector,omitempty"`
	// endpoint is where clients connect, as host:port.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	Endpoint string `json:"endpoint,omitempty"`
	// lastFailover is when a replica was last asked to take over. The next is not asked
	// too soon: servers vote only once in a while.
	// +optional
	LastFailover *metav1.Time `json:"lastFailover,omitempty"`

	// lastPromoted is the pod that was asked then. While it is the primary of its shard,
	// that of another shard need not wait.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	LastPromoted string `json:"lastPromoted,omitempty"`
	// credentials tells which passwords and certificates all servers have, and gives none of
	// them away.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Credentials string `json:"credentials,omitempty"`
	// plan is what a change of size comes to: it is there before the first step, and until
	// the last.
	// +optional
	Plan *ClusterPlan `json:"plan,omitempty"`
	// proofs are the last steps that could not be undone, and what was seen that allowed them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Proofs []meta.Proof `json:"proofs,omitempty"`
	// podFields is what the spec asks of pods, as it was last seen.
	// +optional
	PodFields *PodFields `json:"podFields,omitempty"`
	// currentOperation names what is under way; it is empty at rest.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CurrentOperation string `json:"currentOperation,omitempty"`
}

// ShardStatus is one shard, in few words: 250 of them must fit into an object.
type ShardStatus struct {
	// index of the shard, from 0.
	Index int32 `json:"index"`
	// id is what the servers call the shard.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	ID string `json:"id,omitempty"`
	// primary is the pod that serves the shard's slots.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Primary string `json:"primary,omitempty"`
	// readyReplicas is how many replicas follow the primary and are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// slots is how many slots the shard serves.
	// +optional
	Slots int32 `json:"slots,omitempty"`
}
