//go:build tools

// Package provisioner pins the sidecar that makes volumes for claims.
package provisioner

import _ "github.com/kubernetes-csi/external-provisioner/v5/cmd/csi-provisioner"
