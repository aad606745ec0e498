package explain

import (
	"fmt"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases in which a decision counts, as the document spells them. A test holds them to the machine.
const (
	validated     fsm.Phase = "validated"
	waiting       fsm.Phase = "waiting_approval"
	executing     fsm.Phase = "executing"
	rollbackReady fsm.Phase = "rollback_ready"
	completed     fsm.Phase = "completed"
	failed        fsm.Phase = "failed"
)

// Hindrance says why a decision about an execution would be of no use, and what to do instead. It is empty if the
// decision may be made.
func Hindrance(x *remediationv1.KubernetesExecution, d remediationv1.ApprovalDecision) string {
	if d == remediationv1.Acknowledged {
		return notUnknown(x)
	}
	switch x.Status.Phase {
	case rollbackReady, completed, failed:
		return ended(x)
	case validated, waiting, executing:
		if x.Status.Plan != nil {
			return afterPlan(x, d)
		}
	}
	return noPlan(x)
}

// afterPlan says why a decision comes too late for a plan, or is not asked for.
func afterPlan(x *remediationv1.KubernetesExecution, d remediationv1.ApprovalDecision) string {
	approves := d == remediationv1.Approved
	switch phase := x.Status.Phase; {
	case phase == executing && x.Status.ExecutionResults != nil:
		return fmt.Sprintf("%s has done its action already. Look at its effect: kubectl statecraft status kx/%s -n %s.", Title(x), x.Name, x.Namespace)
	case approves && phase == validated:
		return fmt.Sprintf("%s needs no approval. %s", Title(x), or(x.Status.WaitingFor, "It goes on by itself."))
	case approves && phase == executing:
		return fmt.Sprintf("%s is not waiting for approval any more: its plan is being carried out. Reject or cancel it to stop it, "+
			"which counts only until its Job is released: %s.", Title(x), cancel(x))
	}
	return ""
}

func noPlan(x *remediationv1.KubernetesExecution) string {
	return fmt.Sprintf("%s has no plan yet. %s Wait for one: kubectl wait kx/%s -n %s --for=jsonpath='{.status.phase}'=%s --timeout=5m.",
		Title(x), or(sentence(x.Status.WaitingFor), "The manager has not looked at it."), x.Name, x.Namespace, waiting)
}

// ended says how an execution ended: what is done cannot be decided about any more.
func ended(x *remediationv1.KubernetesExecution) string {
	how := fmt.Sprintf("%s is not waiting for approval: it is in phase %s", Title(x), x.Status.Phase)
	if r := x.Status.Reason; r != "" && x.Status.Phase == failed {
		how += ", with reason " + string(r)
	}
	switch {
	case x.Status.Effect == remediationv1.EffectUnknown:
		return how + ". Its outcome is unknown: look at its target, and acknowledge it: " + Command("acknowledge", x) + "."
	case x.Status.Phase == rollbackReady:
		return how + ". Its action is done; another execution takes it back: kubectl statecraft status kx/" + x.Name + " -n " + x.Namespace + " says how."
	case x.Status.Phase == failed:
		return how + ". Its requester makes another execution, if it is still wanted."
	}
	return how + ". Its action is done."
}

func notUnknown(x *remediationv1.KubernetesExecution) string {
	if x.Status.Effect == remediationv1.EffectUnknown {
		return ""
	}
	is := or(string(x.Status.Effect), "not known before its end")
	return fmt.Sprintf("Only an unknown outcome is acknowledged; the effect of %s is %s (phase %s). %s",
		Title(x), is, or(string(x.Status.Phase), "none yet"), or(nextAfter[x.Status.Phase], "Wait for its end."))
}

// nextAfter is what to do about executions whose outcome is known.
var nextAfter = map[fsm.Phase]string{
	waiting:       "To decide about its plan, approve or reject it.",
	rollbackReady: "Nothing needs to be done.",
	completed:     "Nothing needs to be done.",
	failed:        "Its target is not marked: make another execution, if its effect allows that.",
}

// Command is what a person types to decide about an execution.
func Command(verb string, x *remediationv1.KubernetesExecution) string {
	return strings.Join([]string{"kubectl statecraft", verb, x.Name, "-n", x.Namespace}, " ")
}

func cancel(x *remediationv1.KubernetesExecution) string {
	return fmt.Sprintf("kubectl patch kx %s -n %s --type=merge -p '{\"spec\":{\"cancel\":true}}'", x.Name, x.Namespace)
}
