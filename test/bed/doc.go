// Package bed runs a real Kubernetes cluster on one machine: nothing in it is a mock.
//
//	b, err := bed.Start(ctx, bed.ControlPlane, bed.Nodes(1))
//	…
//	defer b.Stop()
//	client, err := kubernetes.NewForConfig(b.Config())
//
// A control plane alone needs no privileges, listens on loopback and starts in seconds; several run side by
// side. Nodes need root, and one bed with nodes runs at a time. Tests share a bed per test binary through package
// bedtest. The programs are built from source on first use (package parts) and kept in a cache outside the checkout.
//
// Every write is in the audit log, so a test can count what a controller wrote (Writes), by the user it gave
// that controller (ConfigFor).
//
// # Parts
//
//	ControlPlane  etcd, API server, controller manager, scheduler
//	Nodes(n)      kubelet, containerd, kube-proxy: 1 to 3 machines in namespaces of their own
//	CSI           a CSI driver with snapshots, its sidecars, and a proxy that makes faults
//	FlightControl a Flight Control server; package devices makes scripted devices of it
//
// Further parts join as a file of their own that declares a Part: what it needs built, what it prepares, and how
// it starts. See README.md beside this file.
package bed
