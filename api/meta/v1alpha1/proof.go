package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MostProofs is how many are kept.
const MostProofs = 8

// Proof is a step that could not be undone, and what was seen that allowed it.
type Proof struct {
	// at is when the step was taken.
	At metav1.Time `json:"at"`
	// step is what was done.
	// +kubebuilder:validation:MaxLength=128
	Step string `json:"step"`
	// seen is what it rests on.
	// +kubebuilder:validation:MaxLength=512
	Seen string `json:"seen"`
	// of names the very objects that the proof was made for, the first four of them. It is empty
	// where these are no objects of Kubernetes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Of []ProofSubject `json:"of,omitempty"`
}

// ProofSubject is an object that a proof was made for. One that was made anew under the name
// has another UID, and needs another proof.
type ProofSubject struct {
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// namespace of the object, if it is not that of the status.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the object.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
}
