// Package v1alpha1 is the API of area capture: one-shot capture and restore of
// volumes and manifests, and the keepers that own what was captured.
//
// +kubebuilder:object:generate=true
// +groupName=capture.statecraft.dev
package v1alpha1
