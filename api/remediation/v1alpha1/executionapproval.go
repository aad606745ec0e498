package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ExecutionApproval is what one person decided about one plan of one execution.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=kxa,categories=statecraft
// +kubebuilder:printcolumn:name="Execution",type=string,JSONPath=`.spec.executionRef.name`
// +kubebuilder:printcolumn:name="Decision",type=string,JSONPath=`.spec.decision`
// +kubebuilder:printcolumn:name="Approver",type=string,JSONPath=`.spec.approver.username`
// +kubebuilder:printcolumn:name="Until",type=string,JSONPath=`.spec.validUntil`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.spec.reason`
type ExecutionApproval struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is the decision. It cannot be changed; to withdraw an approval before the action begins, delete it.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a decision cannot be changed: delete it, and make another"
	Spec ExecutionApprovalSpec `json:"spec"`
}

// ExecutionApprovalList is a list of decisions.
//
// +kubebuilder:object:root=true
type ExecutionApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the decisions.
	Items []ExecutionApproval `json:"items"`
}

// ApprovalDecision is what a person decided.
// +kubebuilder:validation:Enum=Approved;Rejected;Acknowledged
type ApprovalDecision string

// What a person can decide.
const (
	// Approved lets the plan be carried out.
	Approved ApprovalDecision = "Approved"
	// Rejected forbids it, whatever others approve.
	Rejected ApprovalDecision = "Rejected"
	// Acknowledged says that a person has looked at the target of an execution whose outcome is
	// unknown, and frees the target.
	Acknowledged ApprovalDecision = "Acknowledged"
)

// ExecutionApprovalSpec is the decision.
//
// +kubebuilder:validation:XValidation:rule="self.decision == 'Acknowledged' || has(self.planDigest)",message="planDigest is required: it is status.plan.digest of the execution"
// +kubebuilder:validation:XValidation:rule="!has(self.includesRollback) || !self.includesRollback || self.decision == 'Approved'",message="only an approval includes the rollback"
type ExecutionApprovalSpec struct {
	// executionRef is the execution that is decided about.
	ExecutionRef ExecutionRef `json:"executionRef"`
	// planDigest is the plan that is decided about: status.plan.digest of the execution.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	PlanDigest string `json:"planDigest,omitempty"`
	// decision is what was decided.
	Decision ApprovalDecision `json:"decision"`
	// reason is why, for those who read it later.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
	// validUntil is when an approval ends: by default an hour after it was made, and a day at most.
	// +optional
	ValidUntil *metav1.Time `json:"validUntil,omitempty"`
	// includesRollback says that the rollback needs no approval of its own while the target is as
	// the action left it.
	// +optional
	IncludesRollback bool `json:"includesRollback,omitempty"`
	// approver is who decided. Admission writes it.
	// +optional
	Approver *meta.Requester `json:"approver,omitempty"`
}
