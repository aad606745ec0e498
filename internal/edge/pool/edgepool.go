package pool

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Finalizer keeps a pool until nothing of it is left.
const Finalizer = "edge.statecraft.dev/pool"

// ConsentAnnotation lets orphans go that are held because they are many. Its value is their number: another number
// of them is not what the person has seen.
const ConsentAnnotation = "edge.statecraft.dev/remove-orphans"

// EdgePool announces devices of Flight Control as Nodes.
type EdgePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitzero"`
}

// Spec is which devices a pool has, and how they are announced.
type Spec struct {
	// server is the Flight Control whose devices these are.
	Server Server `json:"server"`
	// devices are those of the pool. One that a fleet owns is never announced as Ready.
	Devices Selection `json:"devices"`
	// nodes says how devices are announced: PerDevice makes a Node of each. Default PerDevice.
	Nodes string `json:"nodes,omitempty"`
	// limit is how many devices the pool may have: 1 to 2000. Default 500.
	Limit int32 `json:"limit,omitempty"`
	// reserve is kept from pods of what the agent of each device reports.
	Reserve corev1.ResourceList `json:"reserve,omitempty"`
	// capacity is that of devices whose agents report none.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// pods is how many pods a device takes: 1 to 110. Default 30.
	Pods int32 `json:"pods,omitempty"`
	// placeTimeout is how long a device may take to apply a pod before it is taken out again: 1m to 1h. Default 5m.
	PlaceTimeout metav1.Duration `json:"placeTimeout,omitzero"`
	// secrets says whether values of Secrets are delivered, which lie readable in the device's spec: Refuse or Deliver. Default Refuse.
	Secrets string `json:"secrets,omitempty"`
}

// Server is where a Flight Control is, and how it is asked.
type Server struct {
	// url is that of its user API, without a path.
	URL string `json:"url"`
	// credentialsSecret is a Secret in the namespace of the manager with the keys token and, if the server needs it, ca.crt.
	CredentialsSecret string `json:"credentialsSecret"`
}

// Selection chooses devices, by labels or by names.
type Selection struct {
	// matchLabels are labels that each device has.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// names are those of the devices.
	Names []string `json:"names,omitempty"`
}

// Status is the pool as it was last seen.
type Status struct {
	meta.Progress `json:",inline"`
	// devices is how many the pool has, and connected how many of them are heard.
	Devices   int32 `json:"devices,omitempty"`
	Connected int32 `json:"connected,omitempty"`
	// nodes is how many Nodes the pool has.
	Nodes int32 `json:"nodes,omitempty"`
	// problems are devices that have no Node, the first 32 of them.
	Problems []DeviceProblem `json:"problems,omitempty"`
	// orphans is how many applications of this cluster belong to no pod.
	Orphans int32 `json:"orphans,omitempty"`
}

// DeviceProblem is a device that is not announced.
type DeviceProblem struct {
	Device string      `json:"device"`
	Reason meta.Reason `json:"reason"`
}

// GetProgress is where the machine keeps its place.
func (p *EdgePool) GetProgress() *meta.Progress { return &p.Status.Progress }

// DeepCopy copies all of it.
func (p *EdgePool) DeepCopy() *EdgePool {
	out := *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Devices = Selection{maps.Clone(p.Spec.Devices.MatchLabels), slices.Clone(p.Spec.Devices.Names)}
	out.Spec.Reserve, out.Spec.Capacity = p.Spec.Reserve.DeepCopy(), p.Spec.Capacity.DeepCopy()
	p.Status.Progress.DeepCopyInto(&out.Status.Progress)
	out.Status.Problems = slices.Clone(p.Status.Problems)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (p *EdgePool) DeepCopyObject() runtime.Object { return p.DeepCopy() }
