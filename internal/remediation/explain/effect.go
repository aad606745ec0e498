package explain

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// approvalOf is whose approval counted, and until when.
func approvalOf(x *remediationv1.KubernetesExecution) explain.Section {
	s := explain.Section{Title: "Approval"}
	p, a := x.Status.Plan, x.Status.ApprovalReceived
	switch {
	case p == nil:
		return s
	case a != nil:
		s.Add("By", a.Approver+", "+byObject(a))
		if a.Until != nil {
			s.Add("Until", explain.Moment(*a.Until))
		}
		if a.PlanDigest != p.Digest {
			s.AddExact("Digest", a.PlanDigest+", which is another plan")
		}
		if a.IncludesRollback {
			s.Add("Rollback", "is included, while the target is as the action left it.")
		}
	case x.Status.Phase == waiting:
		s.Add("By", "A person who may approve, and is not "+or(requesterOf(x), "the requester")+", must decide: "+Command("approve", x)+".")
	case !p.Policy.RequiresApproval:
		s.Add("By", "The policy asks for none.")
	default:
		s.Add("By", "None counted.")
	}
	return s
}

func byObject(a *remediationv1.ApprovalReceived) string {
	if a.Name == "" {
		return "together with the action that this one takes back"
	}
	return "by ExecutionApproval " + a.Name
}

// effects are what is known of the target.
var effects = map[remediationv1.Effect]string{
	remediationv1.EffectNone:       "None: no Job was released.",
	remediationv1.EffectStarted:    "Started: the Job may run, and it is not yet known what it does.",
	remediationv1.EffectApplied:    "Applied: the target was changed.",
	remediationv1.EffectNotApplied: "NotApplied: the Job ended, and nothing was changed.",
	remediationv1.EffectUnknown:    "Unknown: the target may have been changed, and a person must look at it.",
}

// Effect is what is known of what was done, and by which witness.
func Effect(x *remediationv1.KubernetesExecution) explain.Section {
	s := explain.Section{Title: "Effect"}
	st := x.Status
	s.Add("Known", or(effects[st.Effect], string(st.Effect)))
	if st.JobName != "" {
		s.Add("Job", fmt.Sprintf("%s, UID %s", st.JobName, st.JobUID))
	}
	r := st.ExecutionResults
	if r == nil {
		return s
	}
	s.Add("Witness", r.Witnesses)
	s.Add("Ran", ran(r))
	s.Add("Says", r.Message)
	s.AddExact("Changed", affected(r)...)
	s.Add("Warnings", r.Warnings...)
	if v := st.ValidationResults; v != nil {
		var lines []string
		for _, c := range v.PostConditionResults {
			lines = append(lines, title(came(c)))
		}
		s.Add("Checks", lines...)
	}
	return s
}

func ran(r *remediationv1.ExecutionResults) string {
	switch {
	case r.StartTime == nil || r.EndTime == nil:
		return ""
	case r.Duration != "":
		return fmt.Sprintf("%s to %s (%s)", explain.Moment(*r.StartTime), explain.Moment(*r.EndTime), r.Duration)
	}
	return fmt.Sprintf("%s to %s", explain.Moment(*r.StartTime), explain.Moment(*r.EndTime))
}

func affected(r *remediationv1.ExecutionResults) (lines []string) {
	for _, a := range r.ResourcesAffected {
		line := a.Kind + " " + a.Name + ": " + a.Action
		if a.Before != "" || a.After != "" {
			line += fmt.Sprintf(" (%s → %s)", or(a.Before, "(none)"), or(a.After, "(none)"))
		}
		lines = append(lines, line)
	}
	if more := int(r.Affected) - len(r.ResourcesAffected); more > 0 && lines != nil {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// wayBack is how the action is taken back, and until when its approval covers that.
func wayBack(x *remediationv1.KubernetesExecution) explain.Section {
	s := explain.Section{Title: "Rollback"}
	if by := x.Status.RolledBackBy; by != nil {
		s.Add("Done by", fmt.Sprintf("KubernetesExecution %s, UID %s", by.Name, by.UID))
	}
	i := x.Status.RollbackInformation
	if i == nil {
		return s
	}
	if i.Available {
		s.AddExact("Action", call(i.RollbackAction, i.RollbackParameters))
		s.Add("Of", fmt.Sprintf("KubernetesExecution %s, UID %s", x.Name, x.UID))
	}
	if x.Status.Phase == rollbackReady {
		s.Add("Until", final(x)+covered(x.Status.ApprovalReceived))
	}
	s.Add("Takes", i.EstimatedRollbackDuration)
	s.Add("Note", i.Caveat, i.Message)
	return s
}

// final is until when an action that is done can be taken back under its own approval.
func final(x *remediationv1.KubernetesExecution) string {
	if p := x.Spec.Parent; p != nil {
		return "the end of RemediationRequest " + p.Name
	}
	return explain.Moment(metav1.NewTime(x.Status.Since.Add(time.Duration(x.Spec.FinalizeAfterSeconds) * time.Second)))
}

// covered says whether the approval of the action is that of its rollback, too.
func covered(a *remediationv1.ApprovalReceived) string {
	if a != nil && a.IncludesRollback {
		return " its approval covers it, while the target is as the action left it."
	}
	return "; it is checked like any other execution, and approved if the policy asks for that."
}
