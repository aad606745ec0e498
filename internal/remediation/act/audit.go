package act

import (
	"context"
	"errors"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

var errNoAudit = errors.New("no audit database is configured")

// recordIntent appends what is about to be done to the audit records. A try of before is found again by its key.
func (a Execution) recordIntent(ctx context.Context, x *remediationv1.KubernetesExecution) error {
	if a.Audit == nil {
		return errNoAudit
	}
	body, err := audit.IntentOf(x)
	if err != nil {
		return err
	}
	_, err = a.Audit.Append(ctx, audit.IntentKey(x.UID), body)
	return err
}
