package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

const (
	// PoolFinalizer keeps a pool until nothing of it is left.
	PoolFinalizer = "edge.statecraft.dev/pool"
	// ConsentAnnotation lets orphans go that are held because they are many. Its value is their number: another number
	// of them is not what the person has seen.
	ConsentAnnotation = "edge.statecraft.dev/remove-orphans"
)

// EdgePool announces devices of a Flight Control as Nodes, so that pods run on them.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=ep,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Devices",type=integer,JSONPath=`.status.devices`
// +kubebuilder:printcolumn:name="Connected",type=integer,JSONPath=`.status.connected`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Nodes",type=integer,priority=1,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a pool is the value of a label of its Nodes: at most 63 lower-case letters, digits and dashes"
type EdgePool struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is which devices the pool has, and how they are announced.
	Spec EdgePoolSpec `json:"spec"`
	// status is the pool as it was last seen.
	// +optional
	// +default={"observedGeneration":-1}
	Status EdgePoolStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (p *EdgePool) GetProgress() *meta.Progress { return &p.Status.Progress }

// EdgePoolList is a list of pools.
//
// +kubebuilder:object:root=true
type EdgePoolList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the pools.
	Items []EdgePool `json:"items"`
}

// NodeMode says how devices are announced.
type NodeMode string

// NodesPerDevice makes a Node of each device.
const NodesPerDevice NodeMode = "PerDevice"

// EdgePoolSpec is which devices a pool has, and how they are announced.
type EdgePoolSpec struct {
	// server is the Flight Control whose devices these are.
	Server FlightControl `json:"server"`
	// devices are those of the pool. One that a fleet owns is never announced as Ready.
	Devices DeviceSelection `json:"devices"`
	// nodes says how devices are announced: PerDevice makes a Node of each. Default PerDevice.
	// +optional
	// +kubebuilder:default=PerDevice
	// +kubebuilder:validation:Enum=PerDevice
	Nodes NodeMode `json:"nodes,omitempty"`
	// limit is how many devices the pool may have: 1 to 2000. Default 500.
	// +optional
	// +kubebuilder:default=500
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2000
	Limit int32 `json:"limit,omitempty"`
	// reserve is kept from pods of what the agent of each device reports: cpu and memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory'])",message="reserve cpu and memory only: nothing else of a device is known"
	Reserve corev1.ResourceList `json:"reserve,omitempty"`
	// capacity is that of devices whose agents report none: cpu and memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory'])",message="a device has cpu and memory only, as far as the scheduler knows"
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// pods is how many pods a device takes: 1 to 110. Default 30.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=110
	Pods int32 `json:"pods,omitempty"`
	// placeTimeout is how long a device may take to apply a pod before it is taken out again: 1m to 1h. Default 5m.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('1h')",message="placeTimeout must be from 1m to 1h"
	PlaceTimeout metav1.Duration `json:"placeTimeout,omitzero"`
}

// FlightControl is where a Flight Control is, and how it is asked.
type FlightControl struct {
	// url is that of its user API, over TLS and without a path, such as https://flightctl.example.com:3443.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https://[^/?#@\s]+/?$`
	URL string `json:"url"`
	// credentialsSecret is a Secret in the namespace of the program with the keys token and, unless a public authority has
	// signed the certificate of the server, ca.crt.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret"`
}

// DeviceSelection chooses devices, by labels or by names.
//
// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) != has(self.names)",message="choose devices by matchLabels or by names"
type DeviceSelection struct {
	// matchLabels are labels that each device has.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="keys must be those of labels"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// names are those of the devices.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Names []string `json:"names,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// EdgePoolStatus is the pool as it was last seen.
type EdgePoolStatus struct {
	meta.Progress `json:",inline"`
	// devices is how many the pool has.
	// +optional
	Devices int32 `json:"devices,omitempty"`
	// connected is how many of them are heard.
	// +optional
	Connected int32 `json:"connected,omitempty"`
	// nodes is how many Nodes the pool has.
	// +optional
	Nodes int32 `json:"nodes,omitempty"`
	// problems are devices that have no Node, the first 32 of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Problems []DeviceProblem `json:"problems,omitempty"`
	// orphans is how many applications of this cluster belong to no pod.
	// +optional
	Orphans int32 `json:"orphans,omitempty"`
}

// DeviceProblem is a device that is not announced.
type DeviceProblem struct {
	// device is its name.
	Device string `json:"device"`
	// reason is why it has no Node: NameTaken, TakenByPool or NameTooLong.
	Reason meta.Reason `json:"reason"`
}
