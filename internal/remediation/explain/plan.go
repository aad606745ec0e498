package explain

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// Plan is what an execution would do, by whose wish, to which object, and why a person must agree: all that an approval
// is bound to, exactly as it was read.
func Plan(x *remediationv1.KubernetesExecution, now time.Time) explain.Section {
	s := explain.Section{Title: "Plan"}
	p := x.Status.Plan
	if p == nil {
		return s
	}
	s.Add("Summary", p.Summary)
	s.AddExact("Action", call(x.Spec.Action, x.Spec.Parameters))
	s.Add("Asked by", requesterOf(x))
	if r := x.Spec.RollbackOf; r != nil {
		s.Add("Undoes", fmt.Sprintf("KubernetesExecution %s, UID %s", r.Name, r.UID))
	}
	s.Add("Target", fmt.Sprintf("%s %s (%s), UID %s", p.Target.Kind, p.Target.Name, p.Target.APIVersion, p.Target.UID))
	s.AddExact("Changes", changes(p)...)
	s.Add("Policy", policy(p.Policy)...)
	s.Add("Checks", checks(x)...)
	s.AddExact("Inverse", inverse(x))
	if x.Spec.RollbackOf == nil {
		s.Add("Note", p.Caveat)
	}
	if by := x.Status.ApprovalBy; by != nil && x.Status.Phase == waiting {
		s.Add("Until", explain.Moment(*by)+left(*by, now)+"; without an approval it fails then.")
	}
	s.AddExact("Digest", p.Digest)
	s.Add("Account", p.Account)
	s.AddExact("Image", p.Image)
	return s
}

func changes(p *remediationv1.Plan) (lines []string) {
	for _, c := range p.Changes {
		lines = append(lines, fmt.Sprintf("%s: %s → %s", c.Path, or(c.From, "(none)"), or(c.To, "(none)")))
	}
	if lines == nil {
		return []string{"no field of the target"}
	}
	return lines
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// policy is what the policy wants, and then why, in its own words.
func policy(d remediationv1.PolicyDecision) []string {
	var wants []string
	if d.RequiresApproval {
		wants = append(wants, "an approval")
	}
	if d.RequiresDryRun {
		wants = append(wants, "a dry run")
	}
	switch {
	case !d.Allowed:
		return append([]string{"It does not allow this."}, d.Reasons...)
	case wants == nil:
		return append([]string{"It asks for nothing."}, d.Reasons...)
	}
	return append([]string{"It asks for " + strings.Join(wants, " and ") + "."}, d.Reasons...)
}

// checks are those that the plan has passed, and those that follow the action.
func checks(x *remediationv1.KubernetesExecution) (lines []string) {
	if v := x.Status.ValidationResults; v != nil {
		if v.DryRun != nil && v.DryRun.Success {
			lines = append(lines, "The API server accepts the change as a dry run.")
		}
		if v.DryRun != nil {
			for _, w := range v.DryRun.Warnings {
				lines = append(lines, "It warns: "+sentence(w))
			}
		}
		for _, c := range v.PreConditionResults {
			lines = append(lines, "Before the action: "+came(c))
		}
	}
	for _, c := range x.Spec.PostConditions {
		required := "is only recorded"
		if c.Required {
			required = "must hold"
		}
		lines = append(lines, fmt.Sprintf("After the action: %s %s within %ds.", c.Name, required, c.TimeoutSeconds))
	}
	return lines
}

// came is what a condition came to.
func came(c remediationv1.ConditionResult) string {
	switch {
	case c.Message != "":
		return c.Name + " cannot be asked: " + sentence(c.Message)
	case c.Holds:
		return c.Name + " holds."
	}
	return c.Name + " does not hold."
}

func inverse(x *remediationv1.KubernetesExecution) string {
	if i := x.Status.Plan.Inverse; i != nil && x.Spec.RollbackOf == nil {
		return call(i.Action, i.Parameters)
	}
	if x.Status.Plan.Caveat != "" && x.Spec.RollbackOf == nil {
		return "none" // the note says why
	}
	return "none: no action takes this back"
}

// left is how much time there is, or that there is none.
func left(by metav1.Time, now time.Time) string {
	if now.Before(by.Time) {
		return " (in " + explain.Age(now, by.Time) + ")"
	}
	return " (over)"
}
