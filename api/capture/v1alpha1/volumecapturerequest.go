package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// What captures write on what holds them: a VolumeSnapshotContent, a PersistentVolume.
const (
	// OriginAnnotation is where a capture came from: an Origin, as JSON.
	OriginAnnotation = "capture.statecraft.dev/origin"
	// DetachedByLabel is the UID of the request that detaches, or has detached, a volume.
	DetachedByLabel = "capture.statecraft.dev/detached-by"
	// ReclaimPolicyAnnotation is the policy that a volume had before it was detached.
	ReclaimPolicyAnnotation = "capture.statecraft.dev/reclaim-policy"
)

// VolumeCaptureRequest captures the volume of one claim, once: as a snapshot, or by
// taking the volume itself. What was captured lives as long as the request, and for
// retainAfterDeletion longer.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=vcr,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.spec.target.name`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.restoreSize`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Artifact",type=string,priority=1,JSONPath=`.status.artifactRef.name`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type VolumeCaptureRequest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to capture. It cannot be changed: another capture is another request.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a request cannot be changed: delete it and make another"
	Spec VolumeCaptureRequestSpec `json:"spec"`
	// status is how far it is.
	// +optional
	// +default={"observedGeneration":-1}
	Status VolumeCaptureRequestStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (r *VolumeCaptureRequest) GetProgress() *meta.Progress { return &r.Status.Progress }

// VolumeCaptureRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type VolumeCaptureRequestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the requests.
	Items []VolumeCaptureRequest `json:"items"`
}

// VolumeCaptureMode says how a volume is captured.
// +kubebuilder:validation:Enum=Snapshot;Detach
type VolumeCaptureMode string

// The ways to capture a volume.
const (
	// Snapshot makes a snapshot; the claim and its volume stay as they are.
	Snapshot VolumeCaptureMode = "Snapshot"
	// Detach deletes the claim and keeps its volume where nobody else can bind it.
	Detach VolumeCaptureMode = "Detach"
)

// VolumeCaptureRequestSpec is what to capture.
//
// +kubebuilder:validation:XValidation:rule="self.mode == 'Snapshot' || !has(self.volumeSnapshotClassName)",message="volumeSnapshotClassName is for mode Snapshot only"
type VolumeCaptureRequestSpec struct {
	// target is the claim whose volume is captured, in the namespace of the request.
	Target ClaimTarget `json:"target"`
	// mode says how: Snapshot makes a snapshot and leaves the claim alone; Detach deletes
	// the claim and keeps its volume.
	// +kubebuilder:default=Snapshot
	// +optional
	Mode VolumeCaptureMode `json:"mode,omitempty"`
	// volumeSnapshotClassName names the class; by default the one that is the default of
	// the volume's driver.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	VolumeSnapshotClassName string `json:"volumeSnapshotClassName,omitempty"`
	// deadlineSeconds is how long after its creation the request is given up.
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`
	// onTransientError says what becomes of an error that the driver reports:
	// WaitUntilDeadline waits, because drivers try again; Fail ends the request.
	// +kubebuilder:default=WaitUntilDeadline
	// +optional
	OnTransientError TransientErrors `json:"onTransientError,omitempty"`
	// retainAfterDeletion is how long what was captured outlives the request; a duration
	// such as 72h. The operator sets a least and a longest time.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="retainAfterDeletion must be above zero"
	RetainAfterDeletion *metav1.Duration `json:"retainAfterDeletion,omitempty"`
	// requester is who made the request. Admission writes it.
	// +optional
	Requester *meta.Requester `json:"requester,omitempty"`
}

// ClaimTarget names a claim.
type ClaimTarget struct {
	// name of the PersistentVolumeClaim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// uid of the claim. With it, a claim that was re-created under the name is not taken
	// for the one that was meant.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid,omitempty"`
}

// VolumeCaptureRequestStatus is how far it is.
type VolumeCaptureRequestStatus struct {
	meta.Progress `json:",inline"`
	Completion    `json:",inline"`
	// artifactRef is what holds the capture: a VolumeSnapshotContent, or a PersistentVolume.
	// +optional
	ArtifactRef *ArtifactRef `json:"artifactRef,omitempty"`
	// snapshotHandle is the driver's own name of the snapshot.
	// +optional
	SnapshotHandle string `json:"snapshotHandle,omitempty"`
	// restoreSize is the least size of a volume that is restored from the capture.
	// +optional
	RestoreSize *resource.Quantity `json:"restoreSize,omitempty"`
	// origin is where the capture came from.
	// +optional
	Origin *Origin `json:"origin,omitempty"`
	// detached is the volume that is being detached, and how it was before.
	// +optional
	Detached *DetachedVolume `json:"detached,omitempty"`
	// failure is why the request is being given up, while what it made is deleted. Once
	// that is done, the condition Ready says it.
	// +optional
	Failure *RequestFailure `json:"failure,omitempty"`
}

// DetachedVolume is what must be known of a volume before its claim is deleted.
type DetachedVolume struct {
	// name of the PersistentVolume.
	Name string `json:"name"`
	// uid of the PersistentVolume.
	// +kubebuilder:validation:Type=string
	UID types.UID `json:"uid"`
	// reclaimPolicy it had, and gets back once it is held.
	ReclaimPolicy string `json:"reclaimPolicy"`
}
