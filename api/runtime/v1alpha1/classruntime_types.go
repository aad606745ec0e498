package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ClassRuntime is a class of functions that are deployed together, each with replicas and an
// address of its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=crt,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Functions",type=string,JSONPath=`.status.readyFunctions`
// +kubebuilder:printcolumn:name="Serving",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Template",type=string,priority=1,JSONPath=`.status.template`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 40",message="the name must be a DNS-1035 label of at most 40 characters: Deployments and Services are named after it"
type ClassRuntime struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is the class that is wanted.
	Spec ClassRuntimeSpec `json:"spec"`
	// status is the class as it was last seen.
	// +optional
	// +default={"observedGeneration":-1}
	Status ClassRuntimeStatus `json:"status,omitzero"`
}

// GetProgress is where the class stands.
func (c *ClassRuntime) GetProgress() *meta.Progress { return &c.Status.Progress }

// ClassRuntimeList is a list of classes.
//
// +kubebuilder:object:root=true
type ClassRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ClassRuntime `json:"items"`
}

// ClassRuntimeSpec is the class that is wanted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.enforcement) || !has(self.enforcement.mode) || self.enforcement.mode != 'enforce' || has(self.requirements) && has(self.requirements.capacity) || self.functions.all(f, has(f.requirements) && has(f.requirements.capacity))",message="enforcement.mode enforce needs requirements.capacity: without it no load can be turned into replicas"
type ClassRuntimeSpec struct {
	// classKey is the key of the class in the package that it comes from; it changes nothing. Default none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassKey string `json:"classKey,omitempty"`
	// template says how functions are deployed. k8s_deployment makes a Deployment and a Service
	// of each; dev does so with one replica, which is stopped before it is replaced; auto is
	// k8s_deployment. Default auto.
	// +optional
	// +kubebuilder:default=auto
	Template Template `json:"template,omitempty"`
	// naming says what children are called. Plain is the name of the class and the key of the function: class a-b with function
	// c and class a with function b-c ask for one name, and the second gets NameTaken. Hashed adds a hash that tells them
	// apart. It cannot be changed, because that would replace everything that runs. Default Plain.
	// +optional
	// +kubebuilder:default=Plain
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="naming cannot be changed: every child would be replaced"
	Naming Naming `json:"naming,omitempty"`
	// functions are what the class runs, 1 to 64, each under a key of its own. Their order means nothing.
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Functions []Function `json:"functions"`
	// requirements are what every function must be able to carry. Default none.
	// +optional
	Requirements *Requirements `json:"requirements,omitempty"`
	// telemetry says where it is measured how functions are used. Default nowhere.
	// +optional
	Telemetry *Telemetry `json:"telemetry,omitempty"`
	// enforcement says what is done with what follows from them.
	// +optional
	Enforcement *Enforcement `json:"enforcement,omitempty"`
	// progressDeadlineSeconds is how long, in seconds, a function may make no progress before the class
	// is degraded: 5 to 86400. It must exceed minReadySeconds of every function. Default 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds int32 `json:"progressDeadlineSeconds,omitempty"`
	// paused keeps the manager from changing anything: it goes on observing and reporting. Default false.
	// +optional
	Paused bool `json:"paused,omitempty"`
}
