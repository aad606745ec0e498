package execution

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Execution is posted by a user.
type Execution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec,omitzero"`
	Status            Status `json:"status,omitzero"`
}

// Spec is immutable, but for Cancel.
type Spec struct {
	Action          string          `json:"action,omitempty"`
	ApprovalTimeout metav1.Duration `json:"approvalTimeout,omitzero"`
	Timeout         metav1.Duration `json:"timeout,omitzero"`
	Cancel          bool            `json:"cancel,omitempty"`
}

// Status is what cannot be observed.
type Status struct {
	meta.Progress `json:",inline"`
	PlanDigest    string       `json:"planDigest,omitempty"`
	Plans         int          `json:"plans,omitempty"`
	ApprovalBy    *metav1.Time `json:"approvalBy,omitempty"` // not restarted by a new plan
	Before        string       `json:"before,omitempty"`     // hash of the target before the action
	JobUID        string       `json:"jobUID,omitempty"`     // saved: the point of no return
	Effect        Verdict      `json:"effect,omitempty"`
}

// Verdict is what is known about the effect on the target.
type Verdict string

// The verdicts. A parent tries again only on None and NotApplied.
const (
	None       Verdict = "None"
	Started    Verdict = "Started"
	Applied    Verdict = "Applied"
	NotApplied Verdict = "NotApplied"
	Unknown    Verdict = "Unknown"
)

// GetProgress implements fsm.Subject.
func (x *Execution) GetProgress() *meta.Progress { return &x.Status.Progress }

// DeepCopy implements fsm.Subject.
func (x *Execution) DeepCopy() *Execution {
	out := *x
	x.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	x.Status.Progress.DeepCopyInto(&out.Status.Progress)
	out.Status.ApprovalBy = x.Status.ApprovalBy.DeepCopy()
	return &out
}
