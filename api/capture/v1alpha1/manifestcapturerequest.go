package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ManifestCaptureRequest captures objects of its own namespace, all of them as they were
// at one moment, once.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mcr,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Captured",type=integer,JSONPath=`.status.captured`
// +kubebuilder:printcolumn:name="Expected",type=integer,JSONPath=`.status.expected`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Checkpoint",type=string,priority=1,JSONPath=`.status.checkpointRef.name`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ManifestCaptureRequest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to capture. It cannot be changed: another capture is another request.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a request cannot be changed: delete it and make another"
	Spec ManifestCaptureRequestSpec `json:"spec"`
	// status is how far it is.
	// +optional
	// +default={"observedGeneration":-1}
	Status ManifestCaptureRequestStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (r *ManifestCaptureRequest) GetProgress() *meta.Progress { return &r.Status.Progress }

// ManifestCaptureRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type ManifestCaptureRequestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the requests.
	Items []ManifestCaptureRequest `json:"items"`
}

// ManifestCaptureRequestSpec is what to capture.
//
// +kubebuilder:validation:XValidation:rule="has(self.targets) || has(self.selector)",message="targets or selector is required"
type ManifestCaptureRequestSpec struct {
	// targets are objects by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Targets []ManifestTarget `json:"targets,omitempty"`
	// selector takes all objects of some resources, or those with some labels.
	// +optional
	Selector *ManifestSelector `json:"selector,omitempty"`
	// includeSecrets captures Secrets, too; they are encrypted. The requester needs the
	// right to read them.
	// +optional
	IncludeSecrets bool `json:"includeSecrets,omitempty"`
	// volumes says what becomes of the data of each captured claim. A claim that is not
	// listed fails the request: an empty volume in place of data would be a lie.
	// +optional
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=256
	Volumes []ManifestVolume `json:"volumes,omitempty"`
	// storage says where the manifests are kept.
	// +kubebuilder:default={type: Etcd}
	// +optional
	Storage ManifestStorage `json:"storage,omitzero"`
	// deadlineSeconds is how long after its creation the request is given up.
	// +kubebuilder:default=1800
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`
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

// ManifestTarget is one object by name.
type ManifestTarget struct {
	// group of the resource; empty for the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`
	// resource, in plural and lower case, such as deployments.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Resource string `json:"resource"`
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ManifestResource is a resource of the API.
type ManifestResource struct {
	// group of the resource; empty for the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`
	// resource, in plural and lower case, such as deployments.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Resource string `json:"resource"`
}

// ManifestSelector takes objects by resource and label.
type ManifestSelector struct {
	// resources to look at; by default every namespaced resource that can be listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []ManifestResource `json:"resources,omitempty"`
	// labelSelector limits them to objects with some labels.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// onForbidden says what becomes of resources that the account of the namespace may not
	// list, if the request does not name them: Fail, the default, refuses the request and
	// says which they are; Skip leaves them out and lists them in the status.
	// +optional
	OnForbidden ForbiddenPolicy `json:"onForbidden,omitempty"`
}

// ForbiddenPolicy says what becomes of resources that may not be listed.
// +kubebuilder:validation:Enum=Fail;Skip
type ForbiddenPolicy string

// What becomes of resources that may not be listed.
const (
	// ForbiddenFail captures nothing, and says which they are.
	ForbiddenFail ForbiddenPolicy = "Fail"
	// ForbiddenSkip leaves them out, and lists them.
	ForbiddenSkip ForbiddenPolicy = "Skip"
)

// ManifestVolume says what becomes of the data of a captured claim.
//
// +kubebuilder:validation:XValidation:rule="has(self.volumeCaptureRequest) != (has(self.empty) && self.empty)",message="either volumeCaptureRequest or empty: true is required"
type ManifestVolume struct {
	// claim is the name of the PersistentVolumeClaim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`
	// volumeCaptureRequest is the capture of its volume, in the same namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	VolumeCaptureRequest string `json:"volumeCaptureRequest,omitempty"`
	// uid of that capture. A checkpoint always has it: another capture of that name does not
	// hold the data of that moment.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid,omitempty"`
	// empty says that the claim may be restored without data.
	// +optional
	Empty bool `json:"empty,omitempty"`
}

// ManifestStorage says where manifests are kept.
type ManifestStorage struct {
	// type of storage. Etcd keeps them in the cluster itself, with which they are lost.
	// +kubebuilder:default=Etcd
	// +kubebuilder:validation:Enum=Etcd
	// +optional
	Type string `json:"type,omitempty"`
}

// ManifestCaptureRequestStatus is how far it is.
type ManifestCaptureRequestStatus struct {
	meta.Progress `json:",inline"`
	Completion    `json:",inline"`
	// checkpointRef is the ManifestCheckpoint that holds the capture.
	// +optional
	CheckpointRef *ArtifactRef `json:"checkpointRef,omitempty"`
	// resourceVersion is the moment that all objects were captured at.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// expected is how many objects were found that are to be captured.
	// +optional
	Expected int32 `json:"expected,omitempty"`
	// captured is how many were read back from the checkpoint.
	// +optional
	Captured int32 `json:"captured,omitempty"`
	// skipped says what was found and not captured, and why.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Skipped []SkippedObjects `json:"skipped,omitempty"`
	// failure is why the request fails, while what it made is being removed, and then for good.
	// +optional
	Failure *RequestFailure `json:"failure,omitempty"`
}

// SkippedObjects are objects of one resource that were not captured for one reason.
type SkippedObjects struct {
	// group of the resource.
	// +optional
	Group string `json:"group,omitempty"`
	// resource of the objects.
	Resource string `json:"resource"`
	// reason is why they are not captured.
	Reason meta.Reason `json:"reason"`
	// count is how many there are; 0 if they were not looked at.
	Count int32 `json:"count"`
	// names are some of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Names []string `json:"names,omitempty"`
}
