// Package act performs the effects of area remediation, one function each.
package act

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/spec"
)

// Execution performs the effects of KubernetesExecutions.
type Execution struct {
	Writer kube.Writer
	Live   read.Live
	Audit  AuditLog // nil: no audit database is configured
}

// Act performs one effect.
func (a Execution) Act(ctx context.Context, x *remediationv1.KubernetesExecution, e fsm.Effect) (ref string, err error) {
	switch e := e.(type) {
	case execution.MakeAccount:
		return "", accounts{Writer: a.Writer, Live: a.Live}.make(ctx, x.Namespace, x.Spec.Action)
	case execution.MarkBegun:
		return "", a.markBegun(ctx, x)
	case execution.CreateJob:
		return a.createJob(ctx, x)
	case execution.RecordIntent:
		return "", a.recordIntent(ctx, x)
	case execution.ReleaseJob:
		return "", a.Writer.ReleaseJob(ctx, jobOf(x), kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	case execution.DeleteJob:
		return "", a.Writer.Delete(ctx, jobOf(x), kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	}
	return "", fmt.Errorf("unknown effect %T", e)
}

// markBegun writes the mark on the very version that was decided upon.
func (a Execution) markBegun(ctx context.Context, x *remediationv1.KubernetesExecution) error {
	next := x.DeepCopy()
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, remediationv1.BegunAnnotation, string(x.UID))
	return a.Writer.Patch(ctx, x, next)
}

func (a Execution) createJob(ctx context.Context, x *remediationv1.KubernetesExecution) (ref string, err error) {
	def, err := accounts{Writer: a.Writer, Live: a.Live}.definition(ctx, x.Spec.Action, x.Status.Plan.Action)
	if err != nil {
		return "", err
	}
	job, err := spec.Job(x, def)
	if err != nil {
		return "", &fsm.Error{Class: fsm.Changed, Err: err}
	}
	err = a.Writer.Create(ctx, job)
	return string(job.UID), err
}

func jobOf(x *remediationv1.KubernetesExecution) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: execution.JobName(x.UID)}}
}
