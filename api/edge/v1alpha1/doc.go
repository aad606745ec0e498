// Package v1alpha1 is the API of area edge: pools of devices of Flight Control. It is vocabulary
// only; defaults and rules are markers.
//
// +kubebuilder:object:generate=true
// +groupName=edge.statecraft.dev
package v1alpha1
