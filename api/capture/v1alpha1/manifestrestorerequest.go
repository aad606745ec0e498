package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ManifestRestoreRequest restores captured objects into its own namespace, once.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mrr,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.conflictPolicy`
// +kubebuilder:printcolumn:name="Dry Run",type=boolean,JSONPath=`.spec.dryRun`
// +kubebuilder:printcolumn:name="Objects",type=integer,JSONPath=`.status.objects`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ManifestRestoreRequest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to restore. It cannot be changed: another restore is another request.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a request cannot be changed: delete it and make another"
	Spec ManifestRestoreRequestSpec `json:"spec"`
	// status is how far it is.
	// +optional
	// +default={"observedGeneration":-1}
	Status ManifestRestoreRequestStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (r *ManifestRestoreRequest) GetProgress() *meta.Progress { return &r.Status.Progress }

// ManifestRestoreRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type ManifestRestoreRequestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the requests.
	Items []ManifestRestoreRequest `json:"items"`
}

// ConflictPolicy says what becomes of an object whose name is taken.
// +kubebuilder:validation:Enum=Fail;Skip;Replace
type ConflictPolicy string

// What becomes of an object whose name is taken.
const (
	// ConflictFail restores nothing at all if one name is taken.
	ConflictFail ConflictPolicy = "Fail"
	// ConflictSkip leaves what is there.
	ConflictSkip ConflictPolicy = "Skip"
	// ConflictReplace changes what is there into what was captured.
	ConflictReplace ConflictPolicy = "Replace"
)

// ManifestRestoreRequestSpec is what to restore.
//
// +kubebuilder:validation:XValidation:rule="self.conflictPolicy != 'Replace' || has(self.notAfter)",message="notAfter is required with conflictPolicy Replace: it stops a request that is applied again much later"
type ManifestRestoreRequestSpec struct {
	// source is what to restore from.
	Source ManifestSource `json:"source"`
	// conflictPolicy says what becomes of an object whose name is taken: Fail restores
	// nothing at all, Skip leaves it, Replace changes it into what was captured.
	// +kubebuilder:default=Fail
	// +optional
	ConflictPolicy ConflictPolicy `json:"conflictPolicy,omitempty"`
	// selector limits the restore to some of the captured objects; by default all are restored.
	// +optional
	Selector *RestoreSelector `json:"selector,omitempty"`
	// storageClasses lets claims of one class, and the templates of claims in workloads, come
	// back with another. What was captured stays with its driver, so both must be of the same.
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=64
	StorageClasses []StorageClassMapping `json:"storageClasses,omitempty"`
	// dryRun changes nothing and says what would be done.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`
	// notAfter is when the request is too old to be begun. Required with Replace.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// deadlineSeconds is how long after its creation the request is given up.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`
	// requester is who made the request. Admission writes it.
	// +optional
	Requester *meta.Requester `json:"requester,omitempty"`
}

// ManifestSource is what to restore from: one of two.
//
// +kubebuilder:validation:XValidation:rule="has(self.checkpoint) != has(self.manifestCaptureRequest)",message="one of checkpoint and manifestCaptureRequest is required"
type ManifestSource struct {
	// checkpoint is a ManifestCheckpoint that outlived its request. It needs the verb
	// restore on that name.
	// +optional
	Checkpoint *NameRef `json:"checkpoint,omitempty"`
	// manifestCaptureRequest is a capture that is Ready.
	// +optional
	ManifestCaptureRequest *RequestRef `json:"manifestCaptureRequest,omitempty"`
}

// RestoreSelector takes captured objects by resource and label.
type RestoreSelector struct {
	// resources to restore; by default all. Each must be among what was captured.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []ManifestResource `json:"resources,omitempty"`
	// labelSelector limits them to objects that had some labels when they were captured.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// StorageClassMapping replaces one storage class by another.
type StorageClassMapping struct {
	// from is the class as it was captured.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from"`
	// to is the class to restore with.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	To string `json:"to"`
}

// RestoreResult says what became of an object.
// +kubebuilder:validation:Enum=Created;Replaced;Unchanged;Skipped;Failed;Pending
type RestoreResult string

// What became of an object; with dryRun, what would.
const (
	ResultCreated   RestoreResult = "Created"
	ResultReplaced  RestoreResult = "Replaced"
	ResultUnchanged RestoreResult = "Unchanged"
	ResultSkipped   RestoreResult = "Skipped"
	ResultFailed    RestoreResult = "Failed"
	ResultPending   RestoreResult = "Pending"
)

// ManifestRestoreRequestStatus is how far it is.
type ManifestRestoreRequestStatus struct {
	meta.Progress `json:",inline"`
	Completion    `json:",inline"`
	// checkpointRef is the checkpoint that is restored.
	// +optional
	CheckpointRef *ArtifactRef `json:"checkpointRef,omitempty"`
	// objects is how many there are to restore.
	// +optional
	Objects int32 `json:"objects,omitempty"`
	// counts says how many objects came to which result.
	// +optional
	Counts map[string]int32 `json:"counts,omitempty"`
	// results says what became of each object; the first 2000 of them, those that failed first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Results []ObjectResult `json:"results,omitempty"`
}

// ObjectResult says what became of one object.
type ObjectResult struct {
	// group of the resource; empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource of the object.
	Resource string `json:"resource"`
	// name of the object.
	Name string `json:"name"`
	// uid of the object that is there now.
	// +optional
	// +kubebuilder:validation:Type=string
	UID types.UID `json:"uid,omitempty"`
	// result is what became of it.
	Result RestoreResult `json:"result"`
	// reason is why, if it was skipped or failed.
	// +optional
	Reason meta.Reason `json:"reason,omitempty"`
	// message says more, and what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// changed are the fields that Replace changes, without values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Changed []string `json:"changed,omitempty"`
}
