package remediation

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit/postgres"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
)

// AuditConfig is what the flags say about the audit database.
type AuditConfig struct {
	// DSNFile has the connection string; empty is that there is none.
	DSNFile string
	// KeyFile has the keys of the records.
	KeyFile string
	// Required says that nothing is released whose intent is not recorded.
	Required bool
}

// recordEvery is how soon the end of an execution is recorded.
const recordEvery = 5 * time.Second

// Audit is the audit records of the cluster; nil if no audit database is configured.
type Audit struct {
	chain    *postgres.Chain
	recorder *act.Recorder
}

var errNoDSN = errors.New("--audit-key-file and --audit-required need a database: name the file with its connection string by --audit-dsn-file")

// setupAudit opens the audit database, if there is one, and records ends and decisions while the process leads. It asks the
// database nothing yet: a manager starts while it is away.
func setupAudit(a *kube.Area, c AuditConfig) (*Audit, error) {
	if c.DSNFile == "" {
		if c != (AuditConfig{}) {
			return nil, errNoDSN
		}
		return nil, nil
	}
	log, err := postgres.Open(c.DSNFile, c.KeyFile)
	if err != nil {
		return nil, err
	}
	if err := a.Run(func(ctx context.Context) error {
		<-ctx.Done()
		log.Close()
		return nil
	}); err != nil {
		return nil, fmt.Errorf("run the connections to the audit database: %w", err)
	}
	e := a.Env
	chain := &postgres.Chain{Log: log, Now: e.Now, Name: func(ctx context.Context) (string, error) { return cluster(ctx, e.LiveReader()) }}
	records := &Audit{chain: chain, recorder: &act.Recorder{
		Cached: e.Cached(), Log: chain, Mine: e.Shard.Has, Left: func(n int) { metricUnrecorded.Set(float64(n)) },
	}}
	return records, a.Every("audit records", recordEvery, records.recorder.Record)
}

// cluster names the cluster for good: that namespace lives as long as it does.
func cluster(ctx context.Context, live read.Live) (string, error) {
	var ns corev1.Namespace
	if err := live.Get(ctx, read.Key{Name: metav1.NamespaceSystem}, &ns); err != nil {
		return "", fmt.Errorf("find the name of the cluster: %w", err)
	}
	return string(ns.UID), nil
}

func (a *Audit) reads() observe.AuditLog {
	if a == nil {
		return nil
	}
	return a.chain
}

func (a *Audit) appends() act.AuditLog {
	if a == nil {
		return nil
	}
	return a.chain
}

// spares says of an execution, or of a request, that it, or a step of it, has ended and is not known to be recorded. Without
// the object nobody could record it any more.
func (a *Audit) spares(e kube.Env) func(context.Context, client.Object) (bool, error) {
	if a == nil {
		return nil
	}
	return func(ctx context.Context, obj client.Object) (bool, error) {
		if x, is := obj.(*remediationv1.KubernetesExecution); is {
			return !a.recorder.HasOutcome(x), nil
		}
		var steps remediationv1.KubernetesExecutionList
		if err := e.Cached().List(ctx, &steps, read.InNamespace(obj.GetNamespace())); err != nil {
			return true, fmt.Errorf("list the steps of %s: %w", obj.GetName(), err)
		}
		for i := range steps.Items {
			if x := &steps.Items[i]; x.Spec.Parent != nil && x.Spec.Parent.UID == obj.GetUID() && !a.recorder.HasOutcome(x) {
				return true, nil
			}
		}
		return false, nil
	}
}

// lacks says that a decision of a person is not known to be recorded.
func (a *Audit) lacks(decision *remediationv1.ExecutionApproval) bool {
	return a != nil && !a.recorder.HasDecision(decision)
}
