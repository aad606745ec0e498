package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManifestCheckpoint is the commit record of a manifest capture: it lists the chunks that
// hold the objects. It is written last and never changed, so a checkpoint that exists is whole.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=mcp,categories=statecraft
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.origin.namespace`
// +kubebuilder:printcolumn:name="Objects",type=integer,JSONPath=`.spec.objects`
// +kubebuilder:printcolumn:name="Bytes",type=integer,JSONPath=`.spec.bytes`
// +kubebuilder:printcolumn:name="Encrypted",type=string,JSONPath=`.spec.encryption.keyID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ManifestCheckpoint struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what was captured. It cannot be changed, but for the key by which its own is encrypted.
	// +kubebuilder:validation:XValidation:rule="has(self.chunks) == has(oldSelf.chunks) && has(self.encryption) == has(oldSelf.encryption) && has(self.volumes) == has(oldSelf.volumes) && has(self.skipped) == has(oldSelf.skipped)",message="a checkpoint cannot be changed"
	Spec ManifestCheckpointSpec `json:"spec"`
}

// ManifestCheckpointList is a list of checkpoints.
//
// +kubebuilder:object:root=true
type ManifestCheckpointList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the checkpoints.
	Items []ManifestCheckpoint `json:"items"`
}

// ManifestCheckpointSpec is what was captured.
type ManifestCheckpointSpec struct {
	// origin is whose objects they are.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Origin Origin `json:"origin"`
	// resourceVersion is the moment that all objects were captured at.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	ResourceVersion string `json:"resourceVersion"`
	// objects is how many there are.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Objects int32 `json:"objects"`
	// bytes is how many bytes all chunks hold.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Bytes int64 `json:"bytes"`
	// chunks hold the objects, in order.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Chunks []ChunkRef `json:"chunks,omitempty"`
	// encryption says how chunks are encrypted; absent if they are not.
	// +optional
	Encryption *Encryption `json:"encryption,omitempty"`
	// volumes says what becomes of the data of captured claims.
	// +optional
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Volumes []ManifestVolume `json:"volumes,omitempty"`
	// skipped says what was found and not captured, and why.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a checkpoint cannot be changed"
	Skipped []SkippedObjects `json:"skipped,omitempty"`
}

// ChunkRef names one chunk and what it must hold.
type ChunkRef struct {
	// name of the ManifestCheckpointContentChunk.
	Name string `json:"name"`
	// objects that it holds.
	Objects int32 `json:"objects"`
	// bytes that it holds.
	Bytes int32 `json:"bytes"`
	// sha256 of its bytes, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// Encryption says how the chunks of a checkpoint are encrypted: with a key of their own,
// which is kept here, encrypted with a key of the operator's namespace.
//
// +kubebuilder:validation:XValidation:rule="(has(self.boundTo) ? self.boundTo : self.keyID) == (has(oldSelf.boundTo) ? oldSelf.boundTo : oldSelf.keyID)",message="chunks stay bound to the key that they were captured with"
type Encryption struct {
	// keyID names the key in the operator's namespace.
	// +kubebuilder:validation:MaxLength=253
	KeyID string `json:"keyID"`
	// boundTo is the keyID of the time of the capture, if it was another: the chunks name it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	BoundTo string `json:"boundTo,omitempty"`
	// wrappedKey is the key of the chunks, encrypted.
	WrappedKey []byte `json:"wrappedKey"`
}

// ManifestCheckpointContentChunk is a part of the objects of a checkpoint. Its name holds
// the digest of its bytes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=mcc,categories=statecraft
// +kubebuilder:printcolumn:name="Checkpoint",type=string,JSONPath=`.spec.checkpoint`
// +kubebuilder:printcolumn:name="Index",type=integer,JSONPath=`.spec.index`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ManifestCheckpointContentChunk struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what the chunk holds. It cannot be changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a chunk cannot be changed"
	Spec ManifestCheckpointContentChunkSpec `json:"spec"`
}

// ManifestCheckpointContentChunkList is a list of chunks.
//
// +kubebuilder:object:root=true
type ManifestCheckpointContentChunkList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the chunks.
	Items []ManifestCheckpointContentChunk `json:"items"`
}

// ManifestCheckpointContentChunkSpec is what the chunk holds.
type ManifestCheckpointContentChunkSpec struct {
	// checkpoint is the name of the checkpoint that lists the chunk.
	Checkpoint string `json:"checkpoint"`
	// index is the place of the chunk among all of them.
	Index int32 `json:"index"`
	// data is the objects, one JSON document per line, compressed with zstd, and then
	// encrypted if Secrets are among them.
	// +kubebuilder:validation:MaxLength=900000
	Data []byte `json:"data"`
}
