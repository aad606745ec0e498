package parts

import "path"

const (
	provisionerModule = "github.com/kubernetes-csi/external-provisioner/v5"
	snapshotterModule = "github.com/kubernetes-csi/external-snapshotter"
)

// clients builds programs that are clients of the API server out of one module: its versions are those of the product's own, so
// that all of them share what was compiled of Kubernetes's client libraries, which is most of each.
func clients(packages ...string) module {
	m := module{dir: "clients", packages: map[string]string{}}
	for _, p := range packages {
		m.packages[path.Base(p)] = p
	}
	return m
}

// as sets flags of the linker, such as a version that a program tells.
func (m module) as(ldflags string) module {
	m.ldflags = ldflags
	return m
}

// with copies files of a dependency beside the programs.
func (m module) with(dependency, pattern string) module {
	m.files = map[string]string{dependency: pattern}
	return m
}

func (m module) patched(corrections []correction) module {
	m.corrections = corrections
	return m
}

// provisionerCorrections leave out an API of before Kubernetes 1.24, which the client libraries of today have no longer in the
// form that the provisioner expects.
var provisionerCorrections = []correction{{
	module: provisionerModule, file: "cmd/csi-provisioner/csi-provisioner.go",
	old: "cInformer = capacity.NewV1beta1InformerBridge(factoryForNamespace.Storage().V1beta1().CSIStorageCapacities())",
	new: "klog.Fatal(\"the API server has no storage.k8s.io/v1\")",
}}
