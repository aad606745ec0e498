//go:build tools

// Package clients pins the programs of the bed that are clients of its API server: Helm, and the sidecars and the
// controller of volumes and their snapshots. They are one module, with the versions of the product's own module where
// both need one, so that the client libraries of Kubernetes are compiled once for all of them.
package clients

import (
	_ "github.com/kubernetes-csi/external-provisioner/v5/cmd/csi-provisioner"
	_ "github.com/kubernetes-csi/external-snapshotter/v8/cmd/csi-snapshotter"
	_ "github.com/kubernetes-csi/external-snapshotter/v8/cmd/snapshot-controller"
	_ "helm.sh/helm/v4/cmd/helm"
)
