package act

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/internal/remediation/spec"
)

// Request performs the effects of RemediationRequests.
type Request struct {
	Writer kube.Writer
	Live   read.Live
}

// Act performs one effect.
func (a Request) Act(ctx context.Context, rr *remediationv1.RemediationRequest, e fsm.Effect) (ref string, err error) {
	switch e := e.(type) {
	case request.MakeAccount:
		return "", accounts(a).make(ctx, rr.Namespace, e.Action)
	case request.MarkBegun:
		return "", a.markBegun(ctx, rr)
	case request.CreateExecution:
		return a.createExecution(ctx, rr, e)
	case request.CancelExecution:
		return "", a.cancelExecution(ctx, rr, e)
	}
	return "", fmt.Errorf("unknown effect %T", e)
}

// markBegun writes the mark on the very version that was decided upon.
func (a Request) markBegun(ctx context.Context, rr *remediationv1.RemediationRequest) error {
	next := rr.DeepCopy()
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, remediationv1.BegunAnnotation, string(rr.UID))
	return a.Writer.Patch(ctx, rr, next)
}

// createExecution makes the execution as the request asks for it. One of that name that the request controls is there
// from a pass that crashed; the next look compares what it says.
func (a Request) createExecution(ctx context.Context, rr *remediationv1.RemediationRequest, e request.CreateExecution) (ref string, err error) {
	asked, is := request.ChildSpec(rr, e.Step, e.Attempt, e.Undo)
	if !is {
		return "", &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("the request does not ask for try %d of step %s", e.Attempt, e.Step)}
	}
	x := spec.Execution(rr, e.Name, asked)
	err = a.Writer.Create(ctx, x)
	return string(x.UID), err
}

// cancelExecution cancels the very execution that was seen, in the version that was decided upon.
func (a Request) cancelExecution(ctx context.Context, rr *remediationv1.RemediationRequest, e request.CancelExecution) error {
	was := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{
		Namespace: rr.Namespace, Name: e.Name, UID: e.UID, ResourceVersion: e.ResourceVersion,
	}}
	next := was.DeepCopy()
	next.Spec.Cancel = true
	return a.Writer.Patch(ctx, was, next)
}
