// Package v1alpha1 is the API of area valkey: Valkey clusters and their
// upgrades. It is vocabulary only; defaults and rules are markers.
//
// +kubebuilder:object:generate=true
// +groupName=valkey.statecraft.dev
package v1alpha1
