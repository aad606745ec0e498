package audit

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// person is who asked or decided. What else the authenticator knows of a user stays in the cluster: it may name tokens.
type person struct {
	Username string   `json:"username"`
	UID      string   `json:"uid,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

func personOf(r *meta.Requester) *person {
	if r == nil {
		return nil
	}
	return &person{Username: r.Username, UID: r.UID, Groups: r.Groups}
}

// decision is what a person decided about an execution.
type decision struct {
	Format           int                            `json:"format"`
	Kind             Kind                           `json:"kind"`
	Namespace        string                         `json:"namespace"`
	Name             string                         `json:"name"`
	UID              types.UID                      `json:"uid"`
	Created          metav1.Time                    `json:"created"`
	Execution        remediationv1.ExecutionRef     `json:"execution"`
	Decision         remediationv1.ApprovalDecision `json:"decision"`
	Approver         *person                        `json:"approver,omitempty"`
	PlanDigest       string                         `json:"planDigest,omitempty"`
	IncludesRollback bool                           `json:"includesRollback,omitempty"`
	ValidUntil       *metav1.Time                   `json:"validUntil,omitempty"`
	Reason           string                         `json:"reason,omitempty"`
}

// DecisionKey is the key of a decision: an execution may have several.
func DecisionKey(a *remediationv1.ExecutionApproval) string {
	return Key(a.Spec.ExecutionRef.UID, Decision, string(a.UID))
}

// DecisionOf is the body of a decision. An approval cannot be changed, so it is recorded as it is.
func DecisionOf(a *remediationv1.ExecutionApproval) (string, error) {
	return canonical(decision{
		Format: format, Kind: Decision, Namespace: a.Namespace, Name: a.Name, UID: a.UID, Created: a.CreationTimestamp,
		Execution: a.Spec.ExecutionRef, Decision: a.Spec.Decision, Approver: personOf(a.Spec.Approver), PlanDigest: a.Spec.PlanDigest,
		IncludesRollback: a.Spec.IncludesRollback, ValidUntil: a.Spec.ValidUntil, Reason: a.Spec.Reason,
	})
}
