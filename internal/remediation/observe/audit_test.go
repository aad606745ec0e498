package observe

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// auditLog answers one thing, and counts.
type auditLog struct {
	is    bool
	err   error
	asked int
}

func (l *auditLog) Find(_ context.Context, key string) (audit.Record, bool, error) {
	l.asked++
	return audit.Record{Seq: 7, Hash: "hash", Key: key}, l.is, l.err
}

type away struct{ error }

func (away) Says() string { return "the audit database cannot be reached" }

// TestAudit: what is known of the record of an intent, and when the database is not asked.
func TestAudit(t *testing.T) {
	const closed = "Waiting for the audit database, without which nothing is released: the audit database cannot be reached."
	waiting := func(*remediationv1.KubernetesExecution) {}
	made := func(x *remediationv1.KubernetesExecution) {
		x.Status.Phase, x.Status.JobUID = execution.Executing, "job"
	}
	saved := func(r *remediationv1.IntentRecord) func(*remediationv1.KubernetesExecution) {
		return func(x *remediationv1.KubernetesExecution) { made(x); x.Status.Audit = r }
	}
	down := away{errors.New("read tcp 127.0.0.1:40001")}
	for name, tc := range map[string]struct {
		required bool
		log      auditLog
		x        func(*remediationv1.KubernetesExecution)
		want     execution.Audit
		closed   string
		asked    int
	}{
		"before the Job is made it matters only if it must answer": {log: auditLog{err: down}, x: waiting, want: execution.Audit{Wanted: true}},
		"and then whether it does": {required: true, log: auditLog{err: down}, x: waiting, asked: 1, closed: closed,
			want: execution.Audit{Wanted: true, Required: true, Sight: presence.Unknown, Why: "the audit database cannot be reached"}},
		"one that answers has no record yet": {required: true, x: waiting, asked: 1, want: execution.Audit{Wanted: true, Required: true, Sight: presence.Gone}},
		"the record is found":                {log: auditLog{is: true}, x: made, asked: 1, want: execution.Audit{Wanted: true, Sight: presence.Here, Seq: 7, Hash: "hash"}},
		"one that is away closes nothing unless it is required": {log: auditLog{err: down}, x: made, asked: 1,
			want: execution.Audit{Wanted: true, Sight: presence.Unknown, Why: "the audit database cannot be reached"}},
		"what is saved is not asked for": {required: true, log: auditLog{err: down}, x: saved(&remediationv1.IntentRecord{Seq: 7}), want: execution.Audit{Wanted: true, Required: true}},
		"nor what was given up":          {log: auditLog{err: down}, x: saved(&remediationv1.IntentRecord{Message: "It was away."}), want: execution.Audit{Wanted: true}},
		"unless it is required by now": {required: true, x: saved(&remediationv1.IntentRecord{Message: "It was away."}), asked: 1,
			want: execution.Audit{Wanted: true, Required: true, Sight: presence.Gone}},
	} {
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{UID: "x1"}}
		tc.x(x)
		w, gate := Audit{Log: &tc.log, Required: tc.required}.look(t.Context(), x)
		if diff := cmp.Diff(tc.want, w) + cmp.Diff(tc.closed, gate); diff != "" || tc.log.asked != tc.asked {
			t.Errorf("%s: asked %d times, %s", name, tc.log.asked, diff)
		}
	}
	if w, gate := (Audit{}).look(t.Context(), &remediationv1.KubernetesExecution{}); w != (execution.Audit{}) || gate != "" {
		t.Errorf("without a database: %+v, %q", w, gate)
	}
}
