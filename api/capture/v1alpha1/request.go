package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// RequestRef names a request, by default in the namespace of the one that refers to it.
type RequestRef struct {
	// name of the request.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// namespace of the request, if it is another one. The requester then needs the verb
	// restore on that request there.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`
	// uid of the request. With it, one that was re-created under the name is not taken for
	// the one that was meant.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid,omitempty"`
}

// NameRef names an object without a namespace.
type NameRef struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// uid of the object. With it, one that was re-created under the name is not taken for
	// the one that was meant.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid,omitempty"`
}

// ArtifactRef names for good what a request made.
type ArtifactRef struct {
	// apiVersion of the artifact.
	APIVersion string `json:"apiVersion"`
	// kind of the artifact.
	Kind string `json:"kind"`
	// name of the artifact.
	Name string `json:"name"`
	// uid of the artifact.
	// +kubebuilder:validation:Type=string
	UID types.UID `json:"uid"`
}

// Origin is where something captured came from. Names are used again, UIDs are not: who
// restores is compared by UID.
type Origin struct {
	// namespace of the request.
	Namespace string `json:"namespace"`
	// namespaceUID is the UID of that namespace.
	// +kubebuilder:validation:Type=string
	NamespaceUID types.UID `json:"namespaceUID"`
	// requestUID is the UID of the request.
	// +optional
	// +kubebuilder:validation:Type=string
	RequestUID types.UID `json:"requestUID,omitempty"`
	// claim is the name of the captured PersistentVolumeClaim.
	// +optional
	Claim string `json:"claim,omitempty"`
	// claimUID is the UID of that claim.
	// +optional
	// +kubebuilder:validation:Type=string
	ClaimUID types.UID `json:"claimUID,omitempty"`
}

// TransientErrors says what becomes of a request when another controller reports an error.
// +kubebuilder:validation:Enum=WaitUntilDeadline;Fail
type TransientErrors string

// What becomes of errors that others report.
const (
	// WaitUntilDeadline waits: drivers try again, and recover.
	WaitUntilDeadline TransientErrors = "WaitUntilDeadline"
	// FailAtOnce ends the request at the first error that is reported.
	FailAtOnce TransientErrors = "Fail"
)

// Completion is when a request ended.
type Completion struct {
	// completionTimestamp is when the request ended, well or not.
	// +optional
	CompletionTimestamp *metav1.Time `json:"completionTimestamp,omitempty"`
}

// RequestFailure is why a request is being given up.
type RequestFailure struct {
	// reason is that of the condition Ready, once the request has ended.
	Reason meta.Reason `json:"reason"`
	// message is its message.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
