package explain

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// Decided says what follows from a decision that was written.
func Decided(a *remediationv1.ExecutionApproval) string {
	by := "you"
	if a.Spec.Approver != nil {
		by = a.Spec.Approver.Username
	}
	said := fmt.Sprintf("%s by %s, in ExecutionApproval %s.", a.Spec.Decision, by, a.Name)
	x := a.Spec.ExecutionRef.Name
	switch a.Spec.Decision {
	case remediationv1.Approved:
		until := "an hour from now"
		if a.Spec.ValidUntil != nil {
			until = explain.Moment(*a.Spec.ValidUntil)
		}
		return said + fmt.Sprintf(" It holds until %s, and for this plan alone. To withdraw it before the action begins, delete it: kubectl delete kxa %s -n %s.",
			until, a.Name, a.Namespace)
	case remediationv1.Rejected:
		return said + fmt.Sprintf(" The execution ends, unless its Job was released already: kubectl statecraft status kx/%s -n %s.", x, a.Namespace)
	}
	return said + " Within seconds the target is free, and executions on it that wait go on. The effect stays Unknown."
}
