package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ValkeyUpgrade brings every server of a cluster onto another image, or restarts it on
// the same one: shard by shard, replicas first, without a moment in which a shard is not
// served. It is done once; what has ended is never begun again.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=vku,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Shards",type=string,JSONPath=`.status.upgradedShards`
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.status.fromVersion`
// +kubebuilder:printcolumn:name="To",type=string,JSONPath=`.status.toVersion`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ValkeyUpgrade struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what is to be done. It cannot be changed: another upgrade is another object.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an upgrade cannot be changed: delete it and make another"
	Spec ValkeyUpgradeSpec `json:"spec"`
	// status is how far it is.
	// +optional
	// +default={"observedGeneration":-1}
	Status ValkeyUpgradeStatus `json:"status,omitzero"`
}

// GetProgress is where the upgrade stands.
func (u *ValkeyUpgrade) GetProgress() *meta.Progress { return &u.Status.Progress }

// ValkeyUpgradeList is a list of upgrades.
//
// +kubebuilder:object:root=true
type ValkeyUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ValkeyUpgrade `json:"items"`
}

// ValkeyUpgradeSpec is what is to be done.
type ValkeyUpgradeSpec struct {
	// clusterRef names the cluster, which is in the namespace of the upgrade.
	ClusterRef ClusterRef `json:"clusterRef"`
	// image is the container image that every server is to run. Without it every server
	// is restarted on the image that it runs, and otherwise by what the cluster's spec
	// says. The cluster's own spec is not changed: set spec.image there as well.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`
	// strategy says who decides that a primary hands over: Automatic, as soon as it is
	// safe, or Supervised, when a person has approved that very failover by setting the
	// annotation statecraft.dev/approve to status.approval. Default Automatic.
	// +optional
	// +kubebuilder:default=Automatic
	// +kubebuilder:validation:Enum=Automatic;Supervised
	Strategy UpgradeStrategy `json:"strategy,omitempty"`
	// canaryShards is after how many upgraded shards to stop for soakSeconds: 0 to 250,
	// where 0 is not to stop. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=250
	CanaryShards int32 `json:"canaryShards,omitempty"`
	// soakSeconds is how long, in seconds, the canary shards must do well before the next
	// one is begun: 0 to 604800, a week. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	SoakSeconds int32 `json:"soakSeconds,omitempty"`
	// captureFirst captures every primary's volume before anything is changed, by one
	// VolumeCaptureRequest each, which outlives the upgrade: status.captures names them. If
	// one fails, so does the upgrade. It needs volumes, and area capture. Default false.
	// +optional
	CaptureFirst bool `json:"captureFirst,omitempty"`
	// replicationSyncTimeoutSeconds is how long, in seconds, a server that came back may
	// take to copy its shard: 1 to 86400. Default 300.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ReplicationSyncTimeoutSeconds int32 `json:"replicationSyncTimeoutSeconds,omitempty"`
	// podReadyTimeoutSeconds is how long, in seconds, a pod may take to come back: 1 to
	// 86400. Default 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	PodReadyTimeoutSeconds int32 `json:"podReadyTimeoutSeconds,omitempty"`
	// allowDowngrade lets the servers get an older version than they have. Without it the
	// first one that comes back older ends the upgrade, which then goes back. Default false.
	// +optional
	AllowDowngrade bool `json:"allowDowngrade,omitempty"`
}

// ClusterRef names a ValkeyCluster in the same namespace.
type ClusterRef struct {
	// name of the ValkeyCluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=48
	Name string `json:"name"`
}

// UpgradeStrategy says who decides that a primary hands over.
type UpgradeStrategy string
