package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
}
