package explain

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// NamedIn is the field in which an execution names the one that it takes back.
func NamedIn() []string { return []string{"spec", "rollbackOf", "uid"} }

// Rollbacks are the executions that say that they take one back, and what became of each. One that has ended is not written any
// more, so its own status does not name those that came later.
func Rollbacks(others []unstructured.Unstructured) (explain.Section, error) {
	s := explain.Section{Title: "Rollbacks"}
	for i := range others {
		x, err := Read(&others[i])
		if err != nil {
			return s, err
		}
		s.Add("By", fmt.Sprintf("KubernetesExecution %s, UID %s, %s", x.Name, x.UID, became(x)))
	}
	return s, nil
}

// became says what a rollback has done. That it says so is not enough: its plan is made once its checks have found that it is one.
func became(x *remediationv1.KubernetesExecution) string {
	st := x.Status
	switch {
	case st.Plan == nil:
		return fmt.Sprintf("which has no plan and has changed nothing (phase %s).", or(string(st.Phase), "none yet"))
	case st.Effect == remediationv1.EffectApplied && st.ExecutionResults != nil && st.ExecutionResults.EndTime != nil:
		return "took it back at " + explain.Moment(*st.ExecutionResults.EndTime) + "."
	case st.Effect == remediationv1.EffectApplied:
		return "took it back."
	case st.Effect == remediationv1.EffectUnknown:
		return "may have taken it back: a person must look at the target."
	case st.Phase == failed:
		return fmt.Sprintf("changed nothing (reason %s).", st.Reason)
	}
	return fmt.Sprintf("has not taken it back yet (phase %s).", st.Phase)
}
