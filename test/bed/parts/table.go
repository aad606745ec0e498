package parts

import "strings"

// Names of the parts of the table.
const (
	Kube       = "kube"
	Etcd       = "etcd"
	Containerd = "containerd"
	Runc       = "runc"
	CNI        = "cni"
	Helm       = "helm"

	HostPath    = "hostpath"
	Provisioner = "provisioner"
	Snapshotter = "snapshotter"

	// FlightControl is its server; devices are made by tests.
	FlightControl = "flightctl"

	Prometheus = "prometheus"
	// MonitoringKinds are the CRDs of the Prometheus operator, which does not run on the bed.
	MonitoringKinds = "monitoring-kinds"
)

const (
	kubeVersion     = "v1.36.3"
	hostPathVersion = "v1.7.2"
	helmVersion     = "v4.3.1"
)

// table holds every part, in the order in which `bed parts` builds them.
var table = []Part{
	{
		Name: Kube, Version: kubeVersion, Takes: "10 min",
		recipe: module{
			dir:      "kube",
			packages: map[string]string{"kube": "."},
			ldflags:  "-X k8s.io/component-base/version.gitVersion=" + kubeVersion,
			links: map[string]string{
				"kube-apiserver": "kube", "kube-controller-manager": "kube", "kube-scheduler": "kube",
				"kubelet": "kube", "kube-proxy": "kube", "kubectl": "kube",
			},
		},
	},
	{
		Name: Etcd, Version: "v3.7.3", Takes: "2 min",
		recipe: module{
			dir: "etcd",
			packages: map[string]string{
				"etcd": "go.etcd.io/etcd/server/v3", "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
			},
		},
	},
	{
		Name: Containerd, Version: "v2.4.2", Takes: "2 min",
		recipe: install{
			tags: "no_btrfs no_devmapper no_zfs",
			packages: under("github.com/containerd/containerd/v2/cmd",
				"containerd", "containerd-shim-runc-v2", "ctr"),
		},
	},
	{Name: Runc, Version: "v1.5.2", Takes: "15 s", recipe: runc{}},
	{
		Name: CNI, Version: "v1.9.1", Takes: "15 s",
		recipe: install{packages: under("github.com/containernetworking/plugins/plugins",
			"main/bridge", "ipam/host-local", "main/loopback", "meta/portmap")},
	},
	{
		Name: Helm, Version: helmVersion, Takes: "1 min",
		recipe: clients("helm.sh/helm/v4/cmd/helm").as("-X helm.sh/helm/v4/internal/version.version=" + helmVersion),
	},
	{
		Name: HostPath, Version: hostPathVersion, Takes: "1 min",
		recipe: module{
			dir:         "hostpath",
			packages:    map[string]string{"hostpathplugin": "github.com/kubernetes-csi/csi-driver-host-path/cmd/hostpathplugin"},
			ldflags:     "-X main.version=" + hostPathVersion, // it does not tell its name without one
			corrections: hostPathCorrections,
		},
	},
	{
		Name: Provisioner, Version: "v5.1.0", Takes: "1 min",
		recipe: clients(provisionerModule + "/cmd/csi-provisioner").patched(provisionerCorrections),
	},
	{
		Name: Snapshotter, Version: "v8.6.0", Takes: "1 min",
		recipe: clients(snapshotterModule+"/v8/cmd/csi-snapshotter", snapshotterModule+"/v8/cmd/snapshot-controller").
			with(snapshotterModule+"/client/v8", "config/crd/snapshot.storage.k8s.io_*.yaml"),
	},
	{
		Name: FlightControl, Version: "v1.2.0", Takes: "4 min",
		recipe: module{
			dir:         "flightctl",
			packages:    commands(flightctlModule+"/cmd", "flightctl-api", "flightctl-worker", "flightctl-periodic", "flightctl-db-migrate"),
			tags:        "containers_image_openpgp exclude_graphdriver_btrfs exclude_graphdriver_devicemapper",
			corrections: flightctlCorrections,
			files:       map[string]string{flightctlModule: "deploy/helm/flightctl/scripts/generate-certificates.sh"},
		},
	},
	{
		Name: Prometheus, Version: "3", Takes: "1 min",
		recipe: debs{
			suite: "forky", packages: []string{"prometheus", "promtool"},
			programs: []string{"usr/bin/prometheus", "usr/bin/promtool"},
		},
	},
	{
		Name: MonitoringKinds, Version: "v0.94.1", Takes: "5 s",
		recipe: moduleFiles{
			module: "github.com/prometheus-operator/prometheus-operator",
			patterns: []string{
				"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
				"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
			},
		},
	},
}

func under(base string, names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = strings.Join([]string{base, name}, "/")
	}
	return paths
}

// commands are programs of one folder, each with the name of its package.
func commands(base string, names ...string) map[string]string {
	packages := map[string]string{}
	for _, name := range names {
		packages[name] = base + "/" + name
	}
	return packages
}
