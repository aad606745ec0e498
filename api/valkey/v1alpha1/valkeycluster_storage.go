package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// Persistence is what of a server outlives its pod.
//
// +kubebuilder:validation:XValidation:rule="quantity(has(self.size) ? string(self.size) : '8Gi').compareTo(quantity(has(oldSelf.size) ? string(oldSelf.size) : '8Gi')) >= 0",message="a volume can grow, but not shrink"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="the storage class is decided when a cluster is made"
// +kubebuilder:validation:XValidation:rule="!self.enabled || !has(self.aof) || self.aof || has(self.rdb) && self.rdb",message="a volume without aof and rdb would hold no data"
type Persistence struct {
	// enabled gives every server a volume. Without one, a pod that is lost has to copy
	// its data from another of its shard. Default false.
	// +optional
	// +kubebuilder:default=false
	Enabled bool `json:"enabled"`
	// size of each volume. It can grow while servers run, where the storage class allows it. Default 8Gi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// storageClassName of the volumes. Default the default class of the Kubernetes cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`
	// aof writes every change to a log, so that a server that restarts has all but the
	// last second. Default true.
	// +optional
	AOF *bool `json:"aof,omitempty"`
	// rdb saves a copy of the data from time to time. Default false.
	// +optional
	RDB bool `json:"rdb,omitempty"`
	// whenDeleted says what becomes of the volumes when the cluster is deleted: Retain or
	// Delete. Those of shards and replicas that are removed by scaling always go: with
	// them an old view of the cluster would come back. Default Retain.
	// +optional
	// +kubebuilder:default=Retain
	WhenDeleted VolumesWhenDeleted `json:"whenDeleted,omitempty"`
}

// VolumesWhenDeleted is what becomes of volumes with their cluster.
// +kubebuilder:validation:Enum=Retain;Delete
type VolumesWhenDeleted string

// What becomes of volumes.
const (
	RetainVolumes VolumesWhenDeleted = "Retain"
	DeleteVolumes VolumesWhenDeleted = "Delete"
)

// Replication is what a primary asks of its replicas before it takes a write.
type Replication struct {
	// minReplicasToWrite is how many replicas must be connected for a primary to take
	// writes: 0, or less than replicasPerMaster. With as many as there are, every planned
	// failover would refuse writes. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4
	MinReplicasToWrite int32 `json:"minReplicasToWrite,omitempty"`
	// maxLagSeconds is how long ago, in seconds, a replica may last have been heard of to
	// count. Default 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	MaxLagSeconds int32 `json:"maxLagSeconds,omitempty"`
}

// OnTotalLoss is what is done when all data of a cluster is gone.
// +kubebuilder:validation:Enum=Fail;Recreate
type OnTotalLoss string

// What is done when all data is gone.
const (
	FailOnTotalLoss     OnTotalLoss = "Fail"
	RecreateOnTotalLoss OnTotalLoss = "Recreate"
)

// SlotMigration is how slots are moved between servers.
type SlotMigration struct {
	// maxBytesPerSecond is about how much each server may send in a second, for example 20Mi.
	// It may be changed while slots are moved: what is being sent arrives first. Default as much as it can.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!quantity(string(self)).isLessThan(quantity('64Ki'))",message="with less than 64Ki in a second, slots would not get on"
	MaxBytesPerSecond *resource.Quantity `json:"maxBytesPerSecond,omitempty"`
}
