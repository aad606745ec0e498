package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// VolumeRestoreRequest makes one claim from a captured volume, once. The claim is the
// user's: neither deleting the request nor anything else of ours deletes it. With
// rehearsal it is a trial instead, and leaves nothing.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=vrr,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.spec.volumeClaimTemplate.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Capture",type=string,priority=1,JSONPath=`.spec.source.volumeCaptureRequest.name`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type VolumeRestoreRequest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to restore. It cannot be changed: another restore is another request.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a request cannot be changed: delete it and make another"
	Spec VolumeRestoreRequestSpec `json:"spec"`
	// status is how far it is.
	// +optional
	// +default={"observedGeneration":-1}
	Status VolumeRestoreRequestStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (r *VolumeRestoreRequest) GetProgress() *meta.Progress { return &r.Status.Progress }

// VolumeRestoreRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type VolumeRestoreRequestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the requests.
	Items []VolumeRestoreRequest `json:"items"`
}

// VolumeRestoreRequestSpec is what to restore.
type VolumeRestoreRequestSpec struct {
	// source is what to restore from.
	Source VolumeSource `json:"source"`
	// volumeClaimTemplate is the claim to make, in the namespace of the request.
	VolumeClaimTemplate VolumeClaimTemplate `json:"volumeClaimTemplate"`
	// deadlineSeconds is how long after its creation the request is given up.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`
	// onTransientError says what becomes of an error that the driver reports.
	// +kubebuilder:default=WaitUntilDeadline
	// +optional
	OnTransientError TransientErrors `json:"onTransientError,omitempty"`
	// rehearsal makes the restore a trial: a Job looks at the restored volume, the request
	// says what came of it, and with the request everything goes again.
	// +optional
	Rehearsal *Rehearsal `json:"rehearsal,omitempty"`
	// requester is who made the request. Admission writes it.
	// +optional
	Requester *meta.Requester `json:"requester,omitempty"`
}

// VolumeSource is what to restore from: one of three.
//
// +kubebuilder:validation:XValidation:rule="[has(self.volumeCaptureRequest), has(self.volumeSnapshotContent), has(self.persistentVolume)].filter(x, x).size() == 1",message="one of volumeCaptureRequest, volumeSnapshotContent and persistentVolume is required"
type VolumeSource struct {
	// volumeCaptureRequest is a capture that is Ready.
	// +optional
	VolumeCaptureRequest *RequestRef `json:"volumeCaptureRequest,omitempty"`
	// volumeSnapshotContent is a snapshot that outlived its request. It needs the verb
	// restore on that name.
	// +optional
	VolumeSnapshotContent *NameRef `json:"volumeSnapshotContent,omitempty"`
	// persistentVolume is a detached volume that outlived its request; it is moved, not
	// copied. It needs the verb restore on that name.
	// +optional
	PersistentVolume *NameRef `json:"persistentVolume,omitempty"`
}

// VolumeClaimTemplate is the claim to make.
type VolumeClaimTemplate struct {
	// name of the claim. It must be free: a restore never adopts a claim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// labels of the claim.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations of the claim.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// spec of the claim. Where it comes from is the request's to say, so it has no
	// volumeName, selector or data source.
	Spec RestoredClaimSpec `json:"spec"`
}

// RestoredClaimSpec is the part of a claim's spec that is the user's choice.
type RestoredClaimSpec struct {
	// accessModes of the claim.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=ReadWriteOnce;ReadOnlyMany;ReadWriteMany;ReadWriteOncePod
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes"`
	// resources: requests.storage must hold what was captured.
	// +optional
	Resources corev1.VolumeResourceRequirements `json:"resources,omitzero"`
	// storageClassName of the claim. Its provisioner must be the driver that holds the capture.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	StorageClassName *string `json:"storageClassName,omitempty"`
	// volumeMode of the claim, as it was captured: Filesystem or Block.
	// +optional
	// +kubebuilder:validation:Enum=Filesystem;Block
	VolumeMode *corev1.PersistentVolumeMode `json:"volumeMode,omitempty"`
}

// Rehearsal is a trial of a restore.
type Rehearsal struct {
	// probe is the Job that looks at the restored volume, which it finds as the volume
	// named restored.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Probe batchv1.JobTemplateSpec `json:"probe"`
}

// VolumeRestoreRequestStatus is how far it is.
type VolumeRestoreRequestStatus struct {
	meta.Progress `json:",inline"`
	Completion    `json:",inline"`
	// source is what is restored, as it was found: the restorer makes the volume from
	// this, and not from what may have the same name by then.
	// +optional
	Source *ResolvedSource `json:"source,omitempty"`
	// pvcRef is the claim that was made.
	// +optional
	PVCRef *ArtifactRef `json:"pvcRef,omitempty"`
	// failure is why the request is being given up, while what it made is deleted. Once that
	// is done, the condition Ready says it.
	// +optional
	Failure *RequestFailure `json:"failure,omitempty"`
}

// ResolvedSource is a snapshot, or a detached volume, of one driver.
type ResolvedSource struct {
	// driver is the CSI driver that holds it.
	// +kubebuilder:validation:MaxLength=253
	Driver string `json:"driver"`
	// snapshotHandle is the driver's own name of the snapshot.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	SnapshotHandle string `json:"snapshotHandle,omitempty"`
	// volume is the PersistentVolume that is moved.
	// +optional
	Volume *DetachedSource `json:"volume,omitempty"`
	// restoreSize is the least size of the restored volume.
	// +optional
	RestoreSize *resource.Quantity `json:"restoreSize,omitempty"`
}

// DetachedSource is a detached volume, and who holds it.
type DetachedSource struct {
	// name of the PersistentVolume.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the PersistentVolume.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
	// holderUID is the UID of the claim that held it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	HolderUID types.UID `json:"holderUID"`
}

// How a claim that is restored is told, and what becomes of it.
const (
	// RestoreAnnotation holds, on a claim and on a volume that a restore made, the UID of
	// the request.
	RestoreAnnotation = "capture.statecraft.dev/restore"
	// RestoreCondition is the condition of a claim by which the restorer beside the CSI
	// driver tells what stands in the way. It is absent while nothing does.
	RestoreCondition corev1.PersistentVolumeClaimConditionType = "capture.statecraft.dev/Restore"
)
