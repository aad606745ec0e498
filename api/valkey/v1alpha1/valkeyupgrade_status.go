package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ValkeyUpgradeStatus is how far an upgrade is. Clients wait on conditions, which are
// there once it has ended; the rest is for people and for the cluster's controller.
type ValkeyUpgradeStatus struct {
	meta.Progress `json:",inline"`
	// clusterUID is the cluster that was found by the name. Another one of that name is
	// not upgraded.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`
	// fromVersion is the lowest version that a server answered with before.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	FromVersion string `json:"fromVersion,omitempty"`
	// toVersion is what the first server that came back answered with.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ToVersion string `json:"toVersion,omitempty"`
	// upgradedShards is how many shards run what is wanted, of how many: "1/3".
	// +optional
	// +kubebuilder:validation:MaxLength=16
	UpgradedShards string `json:"upgradedShards,omitempty"`
	// captures are the VolumeCaptureRequests of the primaries' volumes as they were before
	// anything was changed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=250
	Captures []string `json:"captures,omitempty"`
	// approval is the token of the failover that waits for a person: it is approved by the
	// annotation statecraft.dev/approve of this value. It is empty when none waits.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Approval string `json:"approval,omitempty"`
	// template names the pod template that was last asked for.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Template string `json:"template,omitempty"`
	// unwellSince is since when the cluster is waited for to be whole, before the next shard
	// is begun or after the last.
	// +optional
	UnwellSince *metav1.Time `json:"unwellSince,omitempty"`
	// failure is why the upgrade was given up and, if it can be, is taken back.
	// +optional
	Failure *UpgradeFailure `json:"failure,omitempty"`
	// proofs are the last steps that could not be undone, and what was seen that allowed them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Proofs []meta.Proof `json:"proofs,omitempty"`
	// shards are the shards that were begun or wait for their turn.
	// +optional
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=250
	Shards []ShardUpgrade `json:"shards,omitempty"`
}

// UpgradeFailure is why an upgrade was given up.
type UpgradeFailure struct {
	// shard in which it failed.
	Shard int32 `json:"shard"`
	// reason it failed for.
	Reason meta.Reason `json:"reason"`
	// message says it in words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// ShardUpgrade is how far one shard is, in few words: 250 of them must fit into an object.
type ShardUpgrade struct {
	// index of the shard, from 0.
	Index int32 `json:"index"`
	// where the shard stands.
	meta.Place `json:",inline"`
	// wantTemplate is the pod template that the shard is to have, by its hash, or as
	// revision:NAME by the name of the ControllerRevision to go back to. The cluster's
	// controller, which alone writes StatefulSets, applies it.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	WantTemplate string `json:"wantTemplate,omitempty"`
	// wantReplicas is how many replicas the shard is to have meanwhile, if not as many as
	// the cluster's spec says.
	// +optional
	WantReplicas *int32 `json:"wantReplicas,omitempty"`
	// fromRevision is the ControllerRevision that the shard had before.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	FromRevision string `json:"fromRevision,omitempty"`
	// replacing is the pod that was deleted last and is awaited.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Replacing string `json:"replacing,omitempty"`
	// oldPrimary is the pod that hands over, or did.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	OldPrimary string `json:"oldPrimary,omitempty"`
	// promoted is the pod that takes over, or did.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Promoted string `json:"promoted,omitempty"`
	// lastFailover is when a replica was last asked to take over, or, if the manager that asked
	// could not note that, when it was seen to have.
	// +optional
	LastFailover *metav1.Time `json:"lastFailover,omitempty"`
	// failedFailovers is how often that came to nothing.
	// +optional
	FailedFailovers int32 `json:"failedFailovers,omitempty"`
	// syncStartedAt is since when a server that came back is waited for to copy its shard.
	// +optional
	SyncStartedAt *metav1.Time `json:"syncStartedAt,omitempty"`
	// syncElapsedSeconds is how long that took the last time.
	// +optional
	SyncElapsedSeconds int32 `json:"syncElapsedSeconds,omitempty"`
	// noWayBack says that the shard could not be brought back to what it had before.
	// +optional
	NoWayBack bool `json:"noWayBack,omitempty"`
}
