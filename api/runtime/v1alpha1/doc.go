// Package v1alpha1 is the API of area runtime: classes of functions. It is vocabulary
// only; defaults and rules are markers.
//
// +kubebuilder:object:generate=true
// +groupName=runtime.statecraft.dev
package v1alpha1
