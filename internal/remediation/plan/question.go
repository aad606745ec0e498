package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// Surroundings are what a policy may look at besides the target.
type Surroundings struct {
	NamespaceLabels map[string]string
	Pods            *policy.Pods
	Executions      policy.Executions
	Now             time.Time
}

// Question is what the policy pack is asked. After says that the action is done: then only its
// postconditions are asked about.
func (d *Draft) Question(pack policy.Pack, s Surroundings, after bool) policy.Question {
	q := policy.Question{Pack: pack, Input: d.input(s)}
	wanted := d.x.Spec.PreConditions
	if after {
		q.Input.Request.Target.Gone = d.isGone()
		wanted = d.x.Spec.PostConditions
	}
	for _, c := range wanted {
		q.Conditions = append(q.Conditions, policy.Condition{Name: c.Name, Parameters: plain(c.Parameters)})
	}
	return q
}

// isGone says that the object that was planned with does not exist any more. One that could not be read may be there.
func (d *Draft) isGone() bool {
	was := d.x.Status.Plan
	return was != nil && (d.absent || d.object != nil && metadata(d.object).UID != was.Target.UID)
}

func (d *Draft) input(s Surroundings) policy.Input {
	meta, who := metadata(d.object), d.x.Spec.Requester
	in := policy.Input{
		Request: policy.Request{
			Action: d.x.Spec.Action, Parameters: d.params, Risk: d.risk(), Rollback: d.original != nil,
			Target: policy.Target{
				Kind: d.kind.Kind, Name: d.x.Spec.Target.Name, Namespace: d.x.Namespace, UID: string(meta.UID), Labels: meta.Labels,
			},
		},
		Namespace: policy.Namespace{Name: d.x.Namespace, Labels: s.NamespaceLabels},
		Pods:      s.Pods, Executions: s.Executions, Now: policy.Minute(s.Now),
		Change: policy.Change{Summary: d.change.Summary},
	}
	if of := d.x.Spec.Parent; of != nil {
		in.Parent = &policy.Parent{Name: of.Name, Step: of.Step, Attempt: of.Attempt, Undo: of.Undo}
	}
	if who != nil {
		in.Request.Requester = policy.Requester{
			Username: who.Username, Groups: who.Groups, ServiceAccount: strings.HasPrefix(who.Username, "system:serviceaccount:"),
		}
	}
	for _, o := range meta.OwnerReferences {
		in.Request.Target.Owners = append(in.Request.Target.Owners, o.Kind)
	}
	for _, m := range meta.ManagedFields {
		if !slices.Contains(in.Request.Target.Managers, m.Manager) {
			in.Request.Target.Managers = append(in.Request.Target.Managers, m.Manager)
		}
	}
	slices.Sort(in.Request.Target.Managers)
	for _, c := range d.change.Fields {
		in.Change.Changes = append(in.Change.Changes, policy.FieldChange{Path: c.Path, From: c.From, To: c.To})
	}
	return in
}

// risk of the action; an action that has been done may have been removed from the catalogue since.
func (d *Draft) risk() string {
	if d.definition == nil {
		return ""
	}
	return d.definition.Spec.Risk
}

func plain(given map[string]apiextensionsv1.JSON) map[string]any {
	out := map[string]any{}
	for name, value := range given {
		var v any
		if err := json.Unmarshal(value.Raw, &v); err == nil {
			out[name] = v
		}
	}
	return out
}

// Decided takes the answer of the policy pack.
func (d *Draft) Decided(pack string, r policy.Reply, after bool) {
	if after {
		d.result.PostConditionResults = results(d.x.Spec.PostConditions, r)
		return
	}
	d.takesBack()
	if d.stopped {
		return
	}
	d.decision = remediationv1.PolicyDecision{
		Pack: pack, Allowed: r.Answer.Allow && r.Problem == "", RequiresApproval: r.Answer.RequireApproval,
		RequiresDryRun: r.Answer.RequireDryRun, Reasons: r.Answer.Reasons,
	}
	d.result.PreConditionResults = results(d.x.Spec.PreConditions, r)
	switch {
	case r.InvalidPack:
		d.Wait(execution.ReasonPolicyInvalid, "%s Waiting for an administrator to mend that ConfigMap in namespace %s.", r.Problem, d.product)
	case r.Problem != "":
		d.refuse(execution.ReasonPolicyDenied, "%s Without an answer the execution is denied.", r.Problem)
	case !d.decision.Allowed && len(r.Answer.Reasons) > 0:
		d.refuse(execution.ReasonPolicyDenied, "The policy does not allow it: %s.", strings.Join(r.Answer.Reasons, "; "))
	case !d.decision.Allowed:
		d.refuse(execution.ReasonPolicyDenied, "The policy does not allow it, and gives no reason.")
	default:
		d.result.PolicyAllowed = true
	}
}

func results(wanted []remediationv1.Condition, r policy.Reply) (all []remediationv1.ConditionResult) {
	for _, c := range wanted {
		v := r.Conditions[c.Name]
		all = append(all, remediationv1.ConditionResult{Name: c.Name, Holds: v.Holds, Required: c.Required, Message: v.Message})
	}
	return all
}
