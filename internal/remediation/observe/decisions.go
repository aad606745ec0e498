package observe

import (
	"context"
	"fmt"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// Decisions reads what persons decided about executions.
type Decisions struct {
	Live     read.Live
	May      read.May
	Policies func(context.Context) (guard.Verdict, error)
}

// on are the decisions on one execution that count, and those that were set aside. One counts if admission looked at who made
// it, and that person may approve the execution at this moment. They are read live, because a person who deletes an
// approval withdraws it.
func (o Decisions) on(ctx context.Context, x *remediationv1.KubernetesExecution) (counted []execution.Decision, aside []execution.SetAside, err error) {
	var list remediationv1.ExecutionApprovalList
	if err := o.Live.List(ctx, &list, read.InNamespace(x.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("list approvals: %w", err)
	}
	var verdict *guard.Verdict
	for i := range list.Items {
		a := &list.Items[i]
		if a.Spec.ExecutionRef.UID != x.UID || a.Spec.Decision == remediationv1.Acknowledged || a.DeletionTimestamp != nil {
			continue
		}
		if verdict == nil {
			v, err := o.Policies(ctx)
			if err != nil {
				return nil, nil, err
			}
			verdict = &v
		}
		why, err := o.doubt(ctx, x, a, *verdict)
		switch {
		case err != nil:
			return nil, nil, err
		case why != "":
			aside = append(aside, asideOf(a, why))
		default:
			counted = append(counted, decisionOf(a))
		}
	}
	return counted, aside, nil
}

// doubt says why a decision is not that of a person who may decide; "" is that it is.
func (o Decisions) doubt(ctx context.Context, x *remediationv1.KubernetesExecution, a *remediationv1.ExecutionApproval, v guard.Verdict) (string, error) {
	who := a.Spec.Approver
	switch early := v.TooEarly("it", a.CreationTimestamp.Time); {
	case v.Gap != "":
		return v.Gap, nil
	case who == nil || who.Username == "":
		return "no admission policy recorded who made it", nil
	case early != "":
		return early, nil
	case strings.HasPrefix(who.Username, "system:serviceaccount:"):
		return "a ServiceAccount cannot decide", nil
	case a.Spec.ExecutionRef.Name != x.Name: // so that the review below is about this execution
		return "it names another execution", nil
	}
	access, err := o.May(ctx, who, read.Right{
		Group: remediationv1.GroupName, Resource: "kubernetesexecutions", Verb: remediationv1.VerbApprove,
		Namespace: a.Namespace, Name: x.Name,
	})
	switch {
	case err != nil:
		return "", err
	case !access.Allowed:
		return "that user may not approve the execution", nil
	case x.Spec.Requester == nil, a.Spec.Decision == remediationv1.Rejected: // who could have asked may still say no
		return "", nil
	}
	// Otherwise one person could ask as a ServiceAccount, and approve as himself.
	alone, err := read.MayActAs(ctx, o.May, who, x.Spec.Requester.Username)
	if err != nil || !alone {
		return "", err
	}
	return "that user may act as the ServiceAccount that asked for the execution", nil
}

func asideOf(a *remediationv1.ExecutionApproval, why string) execution.SetAside {
	aside := execution.SetAside{Name: a.Name, By: "(unknown)", Why: why, At: a.CreationTimestamp.Time}
	if who := a.Spec.Approver; who != nil && who.Username != "" {
		aside.By = who.Username
	}
	return aside
}

func decisionOf(a *remediationv1.ExecutionApproval) execution.Decision {
	d := execution.Decision{
		Name: a.Name, By: a.Spec.Approver.Username, Token: a.Spec.PlanDigest, At: a.CreationTimestamp.Time,
		Rejects: a.Spec.Decision == remediationv1.Rejected, IncludesRollback: a.Spec.IncludesRollback,
	}
	if a.Spec.ValidUntil != nil {
		d.Until = a.Spec.ValidUntil.Time
	}
	return d
}
