package execution

import (
	"fmt"
	"slices"
	"strings"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/approval"
)

// terms are how long an approval holds.
var terms = approval.Terms{Default: time.Hour, Longest: 24 * time.Hour}

// PlanOf is what an approval of an execution is bound to: this very execution, all that would be done,
// and what the policy decided about it. Which pack decided is left out: a comment in it voids nothing.
func PlanOf(x *remediationv1.KubernetesExecution, content string, d remediationv1.PolicyDecision) approval.Plan {
	askedBy := ""
	if x.Spec.Requester != nil {
		askedBy = x.Spec.Requester.Username
	}
	decided := append([]string{fmt.Sprint(d.Allowed, d.RequiresApproval, d.RequiresDryRun), content}, d.Reasons...)
	return approval.Plan{UID: x.UID, Digest: approval.Digest(decided...), AskedBy: askedBy}
}

// consent is what persons decided about the plan, and whose decision counted.
type consent struct {
	approval.Verdict
	by Decision
}

func (c consent) approved() bool { return c.State == approval.Approved }
func (c consent) rejected() bool { return c.State == approval.Rejected }

// judge says what the decisions of persons come to at this moment. A decision quotes the digest of the
// plan, which is the plan's token already.
func judge(in input) consent {
	waiting := consent{Verdict: approval.Verdict{State: approval.Waiting, Why: "no person has approved this plan"}}
	if in.Obj.Status.Plan == nil {
		return waiting
	}
	plan := PlanOf(in.Obj, in.Obj.Status.Plan.Content, in.Obj.Status.Plan.Policy)
	var decisions []approval.Decision
	for _, d := range in.World.Decisions {
		decisions = append(decisions, d.about())
	}
	v := approval.Judge(plan, decisions, terms, in.Now)
	c := consent{Verdict: v}
	c.Why = said(v)
	// A person may decide twice about a plan, once with its rollback and once without: it is the decision that counts.
	i := slices.IndexFunc(decisions, func(d approval.Decision) bool {
		return approval.Judge(plan, []approval.Decision{d}, terms, in.Now) == v
	})
	if i >= 0 {
		c.by = in.World.Decisions[i]
	}
	return c
}

func (d Decision) about() approval.Decision {
	return approval.Decision{By: d.By, Token: d.Token, Rejects: d.Rejects, At: d.At, Until: d.Until}
}

// needsApproval says that the policy wants a person to approve, and that no approval of the action
// covers its rollback.
func needsApproval(in input) bool {
	return in.Obj.Status.Plan.Policy.RequiresApproval && in.World.Look.Covered == ""
}

func whyApproval(in input) string {
	reasons := in.Obj.Status.Plan.Policy.Reasons
	if len(reasons) == 0 {
		return "The policy wants a person to approve the plan."
	}
	return "The policy wants a person to approve the plan: " + strings.Join(reasons, "; ") + "."
}

func noApproval(in input) string {
	if by := in.World.Look.Covered; by != "" {
		return "User " + by + " approved the rollback together with the action that it takes back."
	}
	return "The policy asks for no approval."
}

// said is a verdict as a sentence without its end. One that begins with the name of a user is not to change that.
func said(v approval.Verdict) string {
	if v.State == approval.Approved || v.State == approval.Rejected {
		return "User " + v.Why
	}
	return strings.ToUpper(v.Why[:1]) + v.Why[1:]
}

// isReceived says that the status has the consent by which the Job is released. That of a person who withdrew it, or whose time
// is over, covers no rollback either.
func isReceived(in input) bool {
	was, is := in.Obj.Status.ApprovalReceived, received(in)
	switch {
	case is == nil:
		return true
	case was == nil:
		return false
	case was.Name == "":
		return was.Approver == is.Approver && is.Name == ""
	}
	plan := PlanOf(in.Obj, in.Obj.Status.Plan.Content, in.Obj.Status.Plan.Policy)
	return slices.ContainsFunc(in.World.Decisions, func(d Decision) bool {
		holds := approval.Judge(plan, []approval.Decision{d.about()}, terms, in.Now).State == approval.Approved
		return holds && d.Name == was.Name && d.By == was.Approver && d.IncludesRollback == was.IncludesRollback
	})
}
