package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Effect is what is known of what an execution did to its target.
type Effect string

// What is known of the effect. Another try is safe after None and NotApplied only.
const (
	EffectNone       Effect = "None"       // no Job was released
	EffectStarted    Effect = "Started"    // the Job may run
	EffectApplied    Effect = "Applied"    // the target was changed
	EffectNotApplied Effect = "NotApplied" // the Job ended, and a witness says that nothing was changed
	EffectUnknown    Effect = "Unknown"    // the Job may have changed the target, and no witness is left
)

// KubernetesExecutionStatus is how far an execution is, and what is known of its effect.
type KubernetesExecutionStatus struct {
	meta.Progress `json:",inline"`
	// effect is what is known of what was done to the target.
	// +optional
	Effect Effect `json:"effect,omitempty"`
	// plan is what would be done, and what an approval is bound to.
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// plans is how many plans were made that differ in more than the policy's decision.
	// +optional
	Plans int32 `json:"plans,omitempty"`
	// validationResults are what the checks before the execution came to.
	// +optional
	ValidationResults *ValidationResults `json:"validationResults,omitempty"`
	// validationTime is when the plan was made.
	// +optional
	ValidationTime *metav1.Time `json:"validationTime,omitempty"`
	// approvalBy is when waiting for an approval ends, whatever the number of plans.
	// +optional
	ApprovalBy *metav1.Time `json:"approvalBy,omitempty"`
	// startBy is when an execution that needs no approval, or has it, is given up if what holds it has not let it begin. It
	// is saved once: another plan or another approval does not buy time.
	// +optional
	StartBy *metav1.Time `json:"startBy,omitempty"`
	// approvalReceived is the approval that counted.
	// +optional
	ApprovalReceived *ApprovalReceived `json:"approvalReceived,omitempty"`
	// before is the state of the target before the action, saved before the Job was made.
	// +optional
	Before *Footprint `json:"before,omitempty"`
	// reserved is the object that is reserved while the Job runs: the target, or the owner that manages it. It is saved with the state before.
	// +optional
	Reserved *ReservedTarget `json:"reserved,omitempty"`
	// jobName is the name of the Job.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// jobUID is that of the Job. It is saved before the Job is released: from then on only
	// witnesses can say what was done.
	// +optional
	// +kubebuilder:validation:Type=string
	JobUID types.UID `json:"jobUID,omitempty"`
	// audit is the record of the intent in the audit database, if one is configured. It is saved before the Job is released.
	// +optional
	Audit *IntentRecord `json:"audit,omitempty"`
	// releasedAt is when the Job was seen to be released. The limit on executions of a namespace counts it.
	// +optional
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`
	// withdrawal is why the suspended Job is being deleted.
	// +optional
	Withdrawal *Withdrawal `json:"withdrawal,omitempty"`
	// executionResults are what the Job reported.
	// +optional
	ExecutionResults *ExecutionResults `json:"executionResults,omitempty"`
	// after is the state of the target after the action.
	// +optional
	After *Footprint `json:"after,omitempty"`
	// rollbackInformation says how to take the action back.
	// +optional
	RollbackInformation *RollbackInformation `json:"rollbackInformation,omitempty"`
	// completionTimestamp is when the execution ended.
	// +optional
	CompletionTimestamp *metav1.Time `json:"completionTimestamp,omitempty"`
	// rolledBackBy is the execution that took the action back.
	// +optional
	RolledBackBy *ExecutionRef `json:"rolledBackBy,omitempty"`
}

// Plan is what an execution would do, and what an approval is bound to.
type Plan struct {
	// digest names this very plan: an approval quotes it.
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest"`
	// summary says in a line what would be done.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Summary string `json:"summary,omitempty"`
	// target is the very object that would be changed.
	Target PlannedTarget `json:"target"`
	// changes are the fields that would change.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Changes []Change `json:"changes,omitempty"`
	// inverse is the action that would take it back, if there is one.
	// +optional
	Inverse *Inverse `json:"inverse,omitempty"`
	// caveat says what the inverse would not bring back, or why there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Caveat string `json:"caveat,omitempty"`
	// policy is what the policy pack decided.
	Policy PolicyDecision `json:"policy"`
	// content is the digest without the policy's decision.
	// +kubebuilder:validation:MaxLength=64
	Content string `json:"content"`
	// footprint is the hash of the target's fields that the action reads and writes.
	// +kubebuilder:validation:MaxLength=64
	Footprint string `json:"footprint"`
	// action is the UID of the ActionDefinition.
	// +kubebuilder:validation:Type=string
	Action types.UID `json:"action"`
	// image that performs the action.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// account is the ServiceAccount that performs the action.
	// +kubebuilder:validation:MaxLength=253
	Account string `json:"account"`
}

// PlannedTarget is the very object that a plan is about.
type PlannedTarget struct {
	// apiVersion of the object.
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion"`
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the object.
	// +kubebuilder:validation:Type=string
	UID types.UID `json:"uid"`
}

// Change is one field that an action changes.
type Change struct {
	// path of the field.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// from is its value before, as JSON; empty if it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	From string `json:"from,omitempty"`
	// to is its value after, as JSON; empty if it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	To string `json:"to,omitempty"`
}

// Inverse is an action that takes another back.
type Inverse struct {
	// action to carry out.
	// +kubebuilder:validation:MaxLength=63
	Action string `json:"action"`
	// definition is the UID of the ActionDefinition of the action, as it was when the plan was made.
	// +optional
	// +kubebuilder:validation:Type=string
	Definition types.UID `json:"definition,omitempty"`
	// parameters to carry it out with.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Parameters map[string]apiextensionsv1.JSON `json:"parameters,omitempty"`
}

// PolicyDecision is what the policy pack decided about a plan.
type PolicyDecision struct {
	// pack is the digest of the policy pack that decided.
	// +kubebuilder:validation:MaxLength=64
	Pack string `json:"pack"`
	// allowed says that the plan may be carried out.
	Allowed bool `json:"allowed"`
	// requiresApproval says that a person must approve it.
	// +optional
	RequiresApproval bool `json:"requiresApproval,omitempty"`
	// requiresDryRun says that the API server must accept it as a dry run first.
	// +optional
	RequiresDryRun bool `json:"requiresDryRun,omitempty"`
	// reasons are why, in the policy's words.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Reasons []string `json:"reasons,omitempty"`
}

// ValidationResults are what the checks before an execution came to.
type ValidationResults struct {
	// parameterValidation says that action, target and parameters are well-formed.
	ParameterValidation bool `json:"parameterValidation"`
	// rbacValidation says that the requester, and the account of the action, have the rights.
	RBACValidation bool `json:"rbacValidation"`
	// resourceExists says that the target exists and may be repaired.
	ResourceExists bool `json:"resourceExists"`
	// policyAllowed says that the policy pack allows it.
	PolicyAllowed bool `json:"policyAllowed"`
	// dryRun is what the API server said to the change as a dry run.
	// +optional
	DryRun *DryRunResult `json:"dryRunResults,omitempty"`
	// preConditionResults are what the preconditions came to.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PreConditionResults []ConditionResult `json:"preConditionResults,omitempty"`
	// postConditionResults are what the postconditions came to.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	PostConditionResults []ConditionResult `json:"postConditionResults,omitempty"`
}

// DryRunResult is what the API server said to a change as a dry run.
type DryRunResult struct {
	// success says that it accepted the change.
	Success bool `json:"success"`
	// warnings that it gave.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Warnings []string `json:"warnings,omitempty"`
}

// ConditionResult is what one condition came to.
type ConditionResult struct {
	// name of the condition.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// holds says that it is true.
	Holds bool `json:"holds"`
	// required says that it fails the execution if it does not hold.
	// +optional
	Required bool `json:"required,omitempty"`
	// message says why it could not be asked.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// ApprovalReceived is the approval that counted.
type ApprovalReceived struct {
	// name of the ExecutionApproval; empty if the approval of the execution that is rolled back covers it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// approver is who approved.
	// +kubebuilder:validation:MaxLength=2048
	Approver string `json:"approver"`
	// planDigest is the plan that was approved.
	// +kubebuilder:validation:MaxLength=64
	PlanDigest string `json:"planDigest"`
	// until is when the approval ends.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// includesRollback says that the rollback needs no approval of its own while the target is as the action left it.
	// +optional
	IncludesRollback bool `json:"includesRollback,omitempty"`
}

// Footprint is the state of the target's fields that an action reads and writes.
type Footprint struct {
	// hash of the values.
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`
	// values of the fields, by path, as JSON.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Values map[string]apiextensionsv1.JSON `json:"values,omitempty"`
	// uid of the target.
	// +kubebuilder:validation:Type=string
	UID types.UID `json:"uid"`
	// resourceVersion of the target.
	// +kubebuilder:validation:MaxLength=128
	ResourceVersion string `json:"resourceVersion"`
}

// Withdrawal is why a Job that was not released is being deleted.
type Withdrawal struct {
	// reason that the execution ends with.
	Reason meta.Reason `json:"reason"`
	// message that it ends with.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ExecutionResults are what the Job of an execution came to.
type ExecutionResults struct {
	// success says that the action did what was planned.
	Success bool `json:"success"`
	// startTime is when the Job was released.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// endTime is when its end was seen.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// duration of the Job.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Duration string `json:"duration,omitempty"`
	// resourcesAffected are the objects that were changed, the first 20 of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	ResourcesAffected []ResourceAffected `json:"resourcesAffected,omitempty"`
	// affected is how many objects were changed.
	// +optional
	Affected int32 `json:"affected,omitempty"`
	// warnings that the action gave.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Warnings []string `json:"warnings,omitempty"`
	// reason with which the execution ends, if the action did not do what was planned.
	// +optional
	Reason meta.Reason `json:"reason,omitempty"`
	// message is the action's own word of why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// witnesses are what the verdict rests on.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Witnesses string `json:"witnesses,omitempty"`
}

// ResourceAffected is one object that was changed.
type ResourceAffected struct {
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// namespace of the object; empty if it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// action is what was done.
	// +kubebuilder:validation:MaxLength=63
	Action string `json:"action"`
	// before says how it was.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Before string `json:"before,omitempty"`
	// after says how it is.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	After string `json:"after,omitempty"`
}

// RollbackInformation says how to take an action back. Nothing does so by itself.
type RollbackInformation struct {
	// available says that it can be taken back.
	Available bool `json:"available"`
	// rollbackAction is the action to carry out.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RollbackAction string `json:"rollbackAction,omitempty"`
	// rollbackParameters are those to carry it out with.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	RollbackParameters map[string]apiextensionsv1.JSON `json:"rollbackParameters,omitempty"`
	// target is the UID of the object.
	// +optional
	// +kubebuilder:validation:Type=string
	Target types.UID `json:"target,omitempty"`
	// caveat says what it does not bring back.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Caveat string `json:"caveat,omitempty"`
	// message says why there is no way back.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// estimatedRollbackDuration is how long it takes, by how long the action took.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	EstimatedRollbackDuration string `json:"estimatedRollbackDuration,omitempty"`
}
