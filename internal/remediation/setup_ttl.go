package remediation

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/ttl"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

// NewScanner builds what deletes executions that ended long ago, and decisions about those that are gone.
func NewScanner(e kube.Env, c Config, records *Audit) ttl.Scanner {
	terms := ttl.Terms{Failed: c.TTLFailed, Succeeded: c.TTLCompleted}
	executions := ttl.Of("KubernetesExecution", terms, func() client.ObjectList { return &remediationv1.KubernetesExecutionList{} }, endOf)
	requests := ttl.Of("RemediationRequest", terms, func() client.ObjectList { return &remediationv1.RemediationRequestList{} }, endOfRequest)
	executions.Needed, requests.Needed = records.spares(e), records.spares(e)
	return ttl.New(e, func(kind string) { metricDeletions.WithLabelValues(kind).Inc() }, executions, requests, approvals(e, c, records))
}

// endOf spares an execution whose outcome is unknown: it says what a person must look at.
func endOf(x *remediationv1.KubernetesExecution) ttl.End {
	end := ttl.NewEnd(x.Status.Conditions, x.Status.CompletionTimestamp)
	end.Spared = x.Status.Effect == remediationv1.EffectUnknown
	return end
}

// endOfRequest spares a request of which a step is spared, which would go with it.
func endOfRequest(rr *remediationv1.RemediationRequest) ttl.End {
	end := ttl.NewEnd(rr.Status.Conditions, rr.Status.CompletionTimestamp)
	end.Spared = request.HasUnknown(rr)
	return end
}

func expire(c Config, records *Audit) func(*kube.Area) error {
	return func(a *kube.Area) error { return NewScanner(a.Env, c, records).Run(a) }
}
