package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// RemediationRequest carries out steps in order, each by a KubernetesExecution of its own, and reserves the targets of
// all of them before it begins. What was done can be taken back if a step fails.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=rr,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Steps",type=string,JSONPath=`.status.stepsCompleted`
// +kubebuilder:printcolumn:name="Current Step",type=string,JSONPath=`.status.currentStep`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Requester",type=string,priority=1,JSONPath=`.spec.requester.username`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type RemediationRequest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what to do. It cannot be changed, except that it can be paused and cancelled.
	Spec RemediationRequestSpec `json:"spec"`
	// status is how far it is, and what is known of each step.
	// +optional
	// +default={"observedGeneration":-1}
	Status RemediationRequestStatus `json:"status,omitzero"`
}

// GetProgress is where the machine keeps its place.
func (r *RemediationRequest) GetProgress() *meta.Progress { return &r.Status.Progress }

// RemediationRequestList is a list of requests.
//
// +kubebuilder:object:root=true
type RemediationRequestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the requests.
	Items []RemediationRequest `json:"items"`
}

// OnFailure says what becomes of the steps that were carried out when another one fails.
// +kubebuilder:validation:Enum=Stop;Rollback
type OnFailure string

// What becomes of the steps that were carried out.
const (
	OnFailureStop     OnFailure = "Stop"     // they stand
	OnFailureRollback OnFailure = "Rollback" // they are taken back, the last one first
)

// RemediationRequestSpec is what to do. Rules of a schema cannot see parameters, which may be anything: an admission policy
// sees that they do not change, and they are part of the plan of each execution.
//
// +kubebuilder:validation:XValidation:rule="self.steps.map(step, step.name) == oldSelf.steps.map(step, step.name)",message="the steps of a request cannot be changed: cancel it and make another"
// +kubebuilder:validation:XValidation:rule="self.onFailure == oldSelf.onFailure",message="spec.onFailure cannot be changed: cancel the request and make another"
// +kubebuilder:validation:XValidation:rule="self.deadlineSeconds == oldSelf.deadlineSeconds && self.rollbackDeadlineSeconds == oldSelf.rollbackDeadlineSeconds",message="the deadlines of a request cannot be changed: cancel it and make another"
// +kubebuilder:validation:XValidation:rule="has(self.requester) == has(oldSelf.requester) && (!has(self.requester) || self.requester == oldSelf.requester)",message="spec.requester cannot be changed"
// +kubebuilder:validation:XValidation:rule="!oldSelf.cancel || self.cancel",message="a cancelled request stays cancelled"
type RemediationRequestSpec struct {
	// steps are carried out one at a time, in this order.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Steps []RemediationStep `json:"steps"`
	// onFailure says what becomes of the steps that were carried out when another one fails: with Stop they stand, with
	// Rollback they are taken back, the last one first. If it is unknown what a step did, nothing is taken back.
	// +kubebuilder:default=Stop
	// +optional
	OnFailure OnFailure `json:"onFailure,omitempty"`
	// deadlineSeconds is how long after the request was made a step may still begin. A step that has begun ends by its
	// own deadlines.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`
	// rollbackDeadlineSeconds is how long after the rollback began the undoing of a step may still begin.
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	RollbackDeadlineSeconds int32 `json:"rollbackDeadlineSeconds,omitempty"`
	// paused keeps the next step, or the undoing of one, from beginning. What runs goes on.
	// +kubebuilder:default=false
	// +optional
	Paused bool `json:"paused"`
	// cancel ends the request: no step begins any more, and the execution of the present one is cancelled, which ends it
	// if its Job was not released yet. It takes nothing back, and cannot be taken back.
	// +kubebuilder:default=false
	// +optional
	Cancel bool `json:"cancel"`
	// requester is who made the request. Admission writes it.
	// +optional
	Requester *meta.Requester `json:"requester,omitempty"`
}

// RemediationStep is one step of a request. Its fields are those of a KubernetesExecution.
//
// +kubebuilder:validation:XValidation:rule="self.action == oldSelf.action && self.target == oldSelf.target",message="a step cannot be changed: cancel the request and make another"
// +kubebuilder:validation:XValidation:rule="self.timeoutSeconds == oldSelf.timeoutSeconds && self.approvalTimeoutSeconds == oldSelf.approvalTimeoutSeconds && self.startDeadlineSeconds == oldSelf.startDeadlineSeconds && self.maxRetries == oldSelf.maxRetries",message="the limits of a step cannot be changed: cancel the request and make another"
type RemediationStep struct {
	// name of the step.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// action is what to do: the name of an ActionDefinition, with underscores for its dashes.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Action string `json:"action"`
	// target is the object to repair. It is in the namespace of the request, or, for requests in namespace
	// statecraft-actions, a node.
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
	// timeoutSeconds is how long the Job may run.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// approvalTimeoutSeconds is how long a person may take to approve the step, and to approve undoing it.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	ApprovalTimeoutSeconds int32 `json:"approvalTimeoutSeconds,omitempty"`
	// startDeadlineSeconds is how long the execution of the step waits for what holds it once it may run.
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	// +optional
	StartDeadlineSeconds int32 `json:"startDeadlineSeconds,omitempty"`
	// maxRetries is how often the step is tried again after it failed without having changed its target, for a reason
	// that another try may mend.
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	// +optional
	MaxRetries int32 `json:"maxRetries"`
}
