//go:build tools

// Package hostpath pins the CSI driver that the bed runs.
package hostpath

import _ "github.com/kubernetes-csi/csi-driver-host-path/cmd/hostpathplugin"
