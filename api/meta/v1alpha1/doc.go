// Package v1alpha1 is what the status of every kind shares: where an object
// stands, since when, until when, and how it came there.
//
// +kubebuilder:object:generate=true
package v1alpha1
