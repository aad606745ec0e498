package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// KubernetesExecution carries out one action on one object of its namespace, once: it is checked,
// approved if the policy asks for that, done by a Job with the rights of the action alone, verified,
// and can be rolled back by another execution.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=kx,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target.name`
// +kubebuilder:printcolumn:name="Effect",type=string,JSONPath=`.status.effect`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Requester",type=string,priority=1,JSONPath=`.spec.requester.username`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type KubernetesExecution struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to do. It cannot be changed, except that it can be cancelled.
	Spec KubernetesExecutionSpec `json:"spec"`
	// status is how far it is, and what is known of its effect.
	// +optional
	// +default={"observedGeneration":-1}
	Status KubernetesExecutionStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (x *KubernetesExecution) GetProgress() *meta.Progress { return &x.Status.Progress }

// KubernetesExecutionList is a list of executions.
//
// +kubebuilder:object:root=true
type KubernetesExecutionList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the executions.
	Items []KubernetesExecution `json:"items"`
}

// KubernetesExecutionSpec is what to do. Rules of a schema cannot see parameters, which may be anything: an admission policy sees
// that they do not change, and they are part of every plan.
//
// +kubebuilder:validation:XValidation:rule="self.action == oldSelf.action && self.target == oldSelf.target && has(self.rollbackOf) == has(oldSelf.rollbackOf) && (!has(self.rollbackOf) || self.rollbackOf == oldSelf.rollbackOf)",message="an execution cannot be changed: cancel it and make another"
// +kubebuilder:validation:XValidation:rule="has(self.parent) == has(oldSelf.parent) && (!has(self.parent) || self.parent == oldSelf.parent)",message="spec.parent cannot be changed"
// +kubebuilder:validation:XValidation:rule="has(self.requester) == has(oldSelf.requester) && (!has(self.requester) || self.requester == oldSelf.requester)",message="spec.requester cannot be changed"
// +kubebuilder:validation:XValidation:rule="self.timeoutSeconds == oldSelf.timeoutSeconds && self.approvalTimeoutSeconds == oldSelf.approvalTimeoutSeconds && self.startDeadlineSeconds == oldSelf.startDeadlineSeconds && self.finalizeAfterSeconds == oldSelf.finalizeAfterSeconds",message="the deadlines of an execution cannot be changed: cancel it and make another"
// +kubebuilder:validation:XValidation:rule="!oldSelf.cancel || self.cancel",message="a cancelled execution stays cancelled"
type KubernetesExecutionSpec struct {
	// action is what to do: the name of an ActionDefinition, with underscores for its dashes.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Action string `json:"action"`
	// target is the object to repair. It is in the namespace of the execution, or, for executions
	// in namespace statecraft-actions, a node.
	Target TargetRef `json:"target"`
	// parameters of the action, as its ActionDefinition lists them.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Parameters map[string]apiextensionsv1.JSON `json:"parameters,omitempty"`
	// preConditions must hold before the action begins. Each names a condition of the policy pack.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PreConditions []Condition `json:"preConditions,omitempty"`
	// postConditions must hold after the action. Each names a condition of the policy pack.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PostConditions []Condition `json:"postConditions,omitempty"`
	// rollbackOf names the execution that this one takes back. It counts only if action, parameters
	// and target are those that the other's status gives for its rollback.
	// +optional
	RollbackOf *ExecutionRef `json:"rollbackOf,omitempty"`
	// parent is the step of a RemediationRequest for which the manager made this execution. Only the manager writes it.
	// +optional
	Parent *ParentRef `json:"parent,omitempty"`
	// timeoutSeconds is how long the Job may run.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// approvalTimeoutSeconds is how long a person may take to approve. A new plan does not restart it.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	ApprovalTimeoutSeconds int32 `json:"approvalTimeoutSeconds,omitempty"`
	// startDeadlineSeconds is how long an execution that may run waits for what holds it: an old
	// repair must not start when a brake is lifted days later.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	StartDeadlineSeconds int32 `json:"startDeadlineSeconds,omitempty"`
	// finalizeAfterSeconds is how long an execution that succeeded waits in rollback_ready.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	FinalizeAfterSeconds int32 `json:"finalizeAfterSeconds,omitempty"`
	// cancel ends the execution if its Job was not released yet. It cannot be taken back.
	// +kubebuilder:default=false
	// +optional
	Cancel bool `json:"cancel"`
	// requester is who made the execution. Admission writes it.
	// +optional
	Requester *meta.Requester `json:"requester,omitempty"`
}

// TargetRef names the object to repair. The action knows group and version.
type TargetRef struct {
	// kind of the object, one of those that the action takes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$`
	Name string `json:"name"`
}

// Condition names a condition of the policy pack.
type Condition struct {
	// name of the condition.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	Name string `json:"name"`
	// parameters that the condition is asked with.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Parameters map[string]apiextensionsv1.JSON `json:"parameters,omitempty"`
	// required conditions fail the execution; others are only recorded.
	// +kubebuilder:default=true
	// +optional
	Required bool `json:"required"`
	// timeoutSeconds is how long it is waited for.
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds"`
}

// ExecutionRef names one execution for good: its name may be used again, its UID is not.
type ExecutionRef struct {
	// name of the KubernetesExecution, in the same namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the KubernetesExecution.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z-]+$`
	UID types.UID `json:"uid"`
}

// ParentRef names one try of one step of a RemediationRequest.
type ParentRef struct {
	// name of the RemediationRequest, in the same namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the RemediationRequest.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
	// step is the name of the step.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step"`
	// attempt is which try of the step this is.
	// +kubebuilder:validation:Minimum=1
	Attempt int32 `json:"attempt"`
	// undo says that this takes the step back.
	// +optional
	Undo bool `json:"undo,omitempty"`
}
