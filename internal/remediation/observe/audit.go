package observe

import (
	"context"
	"errors"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// AuditLog is where the intents of executions are recorded.
type AuditLog interface {
	// Find finds the record of a key.
	Find(ctx context.Context, key string) (r audit.Record, is bool, err error)
}

// Audit looks for the record of an execution's intent.
type Audit struct {
	Log AuditLog // nil: no audit database is configured
	// Required says that nothing is released whose intent is not recorded.
	Required bool
}

// look says what is known of the record. Before the Job is made there is none; the question then tells whether the database
// answers, which matters only if it must.
func (a Audit) look(ctx context.Context, x *remediationv1.KubernetesExecution) (w execution.Audit, closed string) {
	if a.Log == nil {
		return execution.Audit{}, ""
	}
	w = execution.Audit{Wanted: true, Required: a.Required}
	made := x.Status.Phase == execution.Executing && x.Status.JobUID != ""
	if saved := x.Status.Audit; saved != nil && (saved.Seq > 0 || !a.Required) || !made && !a.Required {
		return w, ""
	}
	r, is, err := a.Log.Find(ctx, audit.IntentKey(x.UID))
	switch {
	case err != nil:
		w.Sight, w.Why = presence.Unknown, trouble(err)
		if a.Required {
			closed = "Waiting for the audit database, without which nothing is released: " + w.Why + "."
		}
	case is:
		w.Sight, w.Seq, w.Hash = presence.Here, r.Seq, r.Hash
	default:
		w.Sight = presence.Gone
	}
	return w, closed
}

// trouble is an error in words that are the same at every try.
func trouble(err error) string {
	var says interface{ Says() string }
	if errors.As(err, &says) {
		return says.Says()
	}
	return "the chain of the cluster is not known: the manager cannot read namespace kube-system"
}
