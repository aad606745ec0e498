// Package v1alpha1 is the API of area remediation: repairs that are allowed, approved, done at
// most once, proven and reversible.
//
// +kubebuilder:object:generate=true
// +groupName=remediation.statecraft.dev
package v1alpha1
