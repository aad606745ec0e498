package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ClassRuntimeStatus is the class as it was last seen. Clients wait on conditions; the rest is
// for people.
type ClassRuntimeStatus struct {
	meta.Progress `json:",inline"`
	// template is the one by which the functions were last applied.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Template string `json:"template,omitempty"`
	// readyFunctions is how many functions are ready, of how many there should be: "2/2".
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ReadyFunctions string `json:"readyFunctions,omitempty"`
	// functions are those of the spec, by key.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=64
	Functions []FunctionStatus `json:"functions,omitempty"`
	// contested are fields of children that the manager has set again and again, because another changes them
	// each time. While one is paused, the manager leaves that child alone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Contested []ContestedField `json:"contested,omitempty"`
	// nfrRecommendations are what functions need. One that cannot be computed anew stays, and is stale.
	// +optional
	// +listType=map
	// +listMapKey=function
	// +listMapKey=dimension
	// +kubebuilder:validation:MaxItems=64
	NFRRecommendations []Recommendation `json:"nfrRecommendations,omitempty"`
	// enforcement is, for each function whose replicas are enforced, how far that is.
	// +optional
	// +listType=map
	// +listMapKey=function
	// +listMapKey=dimension
	// +kubebuilder:validation:MaxItems=64
	Enforcement []EnforcementStatus `json:"enforcement,omitempty"`
	// resourceRefs are the children that exist, sorted by kind and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	ResourceRefs []ResourceRef `json:"resourceRefs,omitempty"`
}

// FunctionStatus is one function as it was last seen.
type FunctionStatus struct {
	// key is that of the function in the spec.
	// +kubebuilder:validation:MaxLength=40
	Key string `json:"key"`
	// name is that of its Deployment.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// service is the name of its Service, if it has one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Service string `json:"service,omitempty"`
	// port is the first port of its Service.
	// +optional
	Port int32 `json:"port,omitempty"`
	// predictedURL is where the function will answer, known before anything is made.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	PredictedURL string `json:"predictedURL,omitempty"`
	// observedURL is where the function answers: its Service exists, and a pod of it is ready.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	ObservedURL string `json:"observedURL,omitempty"`
	// engine is what scales it: hpa, or none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Engine string `json:"engine,omitempty"`
	// replicas are those of its Deployment.
	// +optional
	Replicas FunctionReplicas `json:"replicas,omitzero"`
	// ready says that the function is as the spec asks for, or has lost no more replicas than may be spared.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// reason says in a word why it is not ready.
	// +optional
	Reason meta.Reason `json:"reason,omitempty"`
	// message says in a sentence why it is not ready.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Recommendation is what a function needs of one dimension. It is written together with a change of what it says, not with
// every sample: how old samples are at the moment is a metric.
type Recommendation struct {
	// function is the key of the function.
	// +kubebuilder:validation:MaxLength=40
	Function string `json:"function"`
	// dimension is what it is about.
	Dimension Dimension `json:"dimension"`
	// value is how many replicas the function needs, if that was ever known.
	// +optional
	Value *int32 `json:"value,omitempty"`
	// basis is Requirement, Throughput, Latency or Availability.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Basis string `json:"basis,omitempty"`
	// confidencePercent is how far value was to be trusted then.
	// +optional
	ConfidencePercent int32 `json:"confidencePercent,omitempty"`
	// sampledAt is the time of the samples when value was written. Without one it follows from requirements alone.
	// +optional
	SampledAt *metav1.Time `json:"sampledAt,omitempty"`
	// generation is that of the spec that value follows from.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// stale says that value may be out of date.
	// +optional
	Stale bool `json:"stale,omitempty"`
	// reason says why value is stale or missing, or what it leaves open.
	// +optional
	Reason meta.Reason `json:"reason,omitempty"`
	// message says that in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// EnforcementStatus is one function whose replicas are enforced. It is the memory of the controller: times last over restarts.
type EnforcementStatus struct {
	// function is the key of the function.
	// +kubebuilder:validation:MaxLength=40
	Function string `json:"function"`
	// dimension is what is enforced.
	Dimension  Dimension `json:"dimension"`
	meta.Place `json:",inline"`
	// target is what is recommended, within the limits of the spec.
	// +optional
	Target int32 `json:"target,omitempty"`
	// clamped is Min or Max where the recommendation is beyond that limit.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	Clamped string `json:"clamped,omitempty"`
	// direction is Up or Down where target is another number than the one that is set.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	Direction string `json:"direction,omitempty"`
	// directionSince is since when all targets were in that direction.
	// +optional
	DirectionSince *metav1.Time `json:"directionSince,omitempty"`
	// low is the least target since then.
	// +optional
	Low int32 `json:"low,omitempty"`
	// high is the greatest target since then.
	// +optional
	High int32 `json:"high,omitempty"`
	// applied is the number that was set last.
	// +optional
	Applied int32 `json:"applied,omitempty"`
	// appliedAt is when that was.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// previous is the number that applied took the place of.
	// +optional
	Previous int32 `json:"previous,omitempty"`
}

// FunctionReplicas are the pods of a function, in numbers.
type FunctionReplicas struct {
	// desired is how many its Deployment asks for.
	// +optional
	Desired int32 `json:"desired,omitempty"`
	// owner is who sets desired: Spec, Enforcement, an autoscaler by its kind and name, or the field manager of another, which is
	// unknown for 0. It is Kept where the number is what an autoscaler left that is gone.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	Owner string `json:"owner,omitempty"`
	// asked is what the spec asks for, where the owner is another and no autoscaler.
	// +optional
	Asked *int32 `json:"asked,omitempty"`
	// overriddenSince is when that was first seen. The annotation statecraft.dev/retake on the class, with a later
	// time, makes the number that of the spec, once.
	// +optional
	OverriddenSince *metav1.Time `json:"overriddenSince,omitempty"`
	// ready is how many are ready.
	// +optional
	Ready int32 `json:"ready,omitempty"`
}

// ContestedField is a field of a child that the manager has set again because another had changed it.
type ContestedField struct {
	// kind is that of the child.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name is that of the child.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// field is the path of the field.
	// +kubebuilder:validation:MaxLength=512
	Field string `json:"field"`
	// manager is the field manager that changed it last. Without one it removed the field, which leaves no trace but in the
	// audit log.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Manager string `json:"manager,omitempty"`
	// count is how often it was set again since the first time.
	Count int32 `json:"count"`
	// times are the last times at which it was set again.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Times []metav1.Time `json:"times"`
	// pauses is how often the manager has left the child alone for a while.
	// +optional
	Pauses int32 `json:"pauses,omitempty"`
	// pausedUntil is when the manager sets it again.
	// +optional
	PausedUntil *metav1.Time `json:"pausedUntil,omitempty"`
}

// ResourceRef names a child.
type ResourceRef struct {
	// kind is that of the child.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name is that of the child.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
