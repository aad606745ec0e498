package observe

import (
	"context"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/plan"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

// step looks for the target of a step, by the same checks and with the same rights as its execution will. What the action
// would do to it is not asked: an earlier step may change that.
func (l Looker) step(ctx context.Context, x *remediationv1.KubernetesExecution) (request.StepLook, error) {
	d := plan.New(x, l.Namespace, l.Image)
	if _, err := l.begin(ctx, x, d); err != nil {
		return request.StepLook{}, err
	}
	if err := l.target(ctx, x, d); err != nil {
		return request.StepLook{}, err
	}
	look := d.Look()
	if look.Reserves.UID != "" {
		return request.StepLook{Outcome: execution.Planned, Reserves: look.Reserves}, nil
	}
	return request.StepLook{Outcome: look.Outcome, Reason: look.Reason, Message: look.Message, NeedsAccount: look.NeedsAccount}, nil
}
