package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// RemediationRequestStatus is how far a request is, and what is known of each step.
type RemediationRequestStatus struct {
	meta.Progress `json:",inline"`
	// overallPhase is the phase of the request, apart from those of its steps.
	// +optional
	OverallPhase meta.Phase `json:"overallPhase,omitempty"`
	// currentStep is the step that is being carried out or undone; the last one that was, once the request has ended.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CurrentStep string `json:"currentStep,omitempty"`
	// stepsCompleted is how many steps were carried out and were not undone, as in 2/3.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	StepsCompleted string `json:"stepsCompleted,omitempty"`
	// targets are what is reserved for the steps, in the order in which it is reserved. They are saved before the first
	// of them is reserved.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Targets []ReservedTarget `json:"targets,omitempty"`
	// steps are what became of each step. They are saved before the first of them begins.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Steps []StepStatus `json:"steps,omitempty"`
	// completionTimestamp is when the request ended.
	// +optional
	CompletionTimestamp *metav1.Time `json:"completionTimestamp,omitempty"`
}

// ReservedTarget is an object that is reserved: the target of a step or of an execution, or the owner that manages it.
type ReservedTarget struct {
	// kind of the object, with its group, as in Deployment.apps.
	// +kubebuilder:validation:MaxLength=317
	Kind string `json:"kind"`
	// namespace of the object; empty if it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the object.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
}

// StepStatus is what became of one step.
type StepStatus struct {
	// name of the step.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// StepRun is how carrying it out goes.
	StepRun `json:",inline"`
	// rollbackInformation says how to take the step back, once it was carried out.
	// +optional
	RollbackInformation *RollbackInformation `json:"rollbackInformation,omitempty"`
	// undo is how taking it back goes, once that was begun.
	// +optional
	Undo *StepRun `json:"undo,omitempty"`
}

// StepRun is how carrying out a step goes, or taking it back: which try it is, by which execution, and what came of it.
type StepRun struct {
	meta.Place `json:",inline"`
	// attempt is which try this is, from 1. It is saved before the execution is made.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// execution carries out this try.
	// +optional
	Execution *ChildRef `json:"execution,omitempty"`
	// startedAt is when this try began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// endedAt is when its end was seen. What follows rests on the effect that was saved with it, even if the execution
	// is deleted later.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
	// effect is what is known of what this try did.
	// +optional
	Effect Effect `json:"effect,omitempty"`
	// reason with which this try ended.
	// +optional
	Reason meta.Reason `json:"reason,omitempty"`
	// message says in words how it ended.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ChildRef names the execution of a step.
type ChildRef struct {
	// name of the KubernetesExecution. It is saved before the execution is made.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the KubernetesExecution, once it is made. The execution does not begin before it is saved.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid,omitempty"`
}
