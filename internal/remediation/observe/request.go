package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var (
	executionKind = remediationv1.GroupVersion.WithKind("KubernetesExecution").GroupKind()
	requestKind   = remediationv1.GroupVersion.WithKind("RemediationRequest").GroupKind()
)

// Request observes RemediationRequests.
type Request struct {
	Live         read.Live
	Looker       Looker
	Gates        Gates
	Reservations read.Reservations
}

// Observe reads what matters in the phase in which the request is.
func (o Request) Observe(ctx context.Context, rr *remediationv1.RemediationRequest) (w request.World, err error) {
	w.Begun = rr.Annotations[remediationv1.BegunAnnotation] == string(rr.UID)
	switch {
	case request.Ended(rr):
		return w, nil
	case request.IsLost(rr), rr.Status.Phase == "" && w.Begun:
		w.Children, err = o.allChildren(ctx, rr)
		return w, err
	case rr.Status.Phase == request.Executing || rr.Status.Phase == request.RollingBack:
		if w.Children, err = o.children(ctx, rr); err != nil || !request.MayBegin(rr) {
			return w, err
		}
	}
	if w.Gates, w.Unproven, err = o.gates(ctx, rr); err != nil {
		return w, err
	}
	switch {
	case w.Unproven != "" && len(rr.Status.Steps) == 0: // without a requester there are no rights to look at
		return w, nil
	case len(rr.Status.Targets) == 0:
		w.Looks, err = o.looks(ctx, rr)
		return w, err
	}
	w.Targets, err = o.targets(ctx, rr)
	return w, err
}

// children reads the execution of the step under way, and, where another may begin, those that stand.
func (o Request) children(ctx context.Context, rr *remediationv1.RemediationRequest) (all request.Children, err error) {
	if all, err = o.child(ctx, rr); err != nil || !request.MayBegin(rr) {
		return all, err
	}
	return all, o.standing(ctx, rr, &all)
}

// gates leaves out that all executions are suspended: a step that begins is held itself, and says so.
func (o Request) gates(ctx context.Context, rr *remediationv1.RemediationRequest) (closed request.Gates, unprovenBy string, err error) {
	closed, unprovenBy, err = o.Gates.lookFor(ctx, func(v guard.Verdict) string {
		return unproven(v, "request", rr.Spec.Requester, rr.CreationTimestamp.Time)
	})
	closed.Suspended = ""
	return closed, unprovenBy, err
}

// looks takes a look at each step. They are live reads; they end once the targets are saved.
func (o Request) looks(ctx context.Context, rr *remediationv1.RemediationRequest) (all []request.StepLook, err error) {
	for _, s := range rr.Spec.Steps {
		look, err := o.Looker.step(ctx, request.Preview(rr, s))
		if err != nil {
			return nil, fmt.Errorf("look at step %s: %w", s.Name, err)
		}
		all = append(all, look)
	}
	return all, nil
}

// targets reads whose the targets are. What an execution of the request holds is its own.
func (o Request) targets(ctx context.Context, rr *remediationv1.RemediationRequest) (all []request.Target, err error) {
	var family []reserve.Ref
	for _, x := range request.Executions(rr) {
		family = append(family, reserve.RefOf(executionKind, &metav1.ObjectMeta{Namespace: rr.Namespace, Name: x.Name, UID: x.UID}))
	}
	for _, t := range request.Targets(rr) {
		held, err := o.Reservations.Of(ctx, t.UID)
		if err != nil {
			return nil, err
		}
		all = append(all, request.Target{UID: t.UID, Fact: held.For(reserve.RefOf(requestKind, rr), family...)})
	}
	return all, nil
}

// child reads the execution that is under way, if any. That it is gone is believed of a live read alone.
func (o Request) child(ctx context.Context, rr *remediationv1.RemediationRequest) (c request.Children, err error) {
	c.Looked = true
	name, is := request.UnderWay(rr)
	if !is {
		return c, nil
	}
	err = o.add(ctx, rr, name, &c)
	return c, err
}

// standing adds the executions of steps that stand by the status. A person may take one back by an execution of his own, and
// that one says so.
func (o Request) standing(ctx context.Context, rr *remediationv1.RemediationRequest, c *request.Children) error {
	for _, ref := range request.Standing(rr) {
		if err := o.add(ctx, rr, ref.Name, c); err != nil {
			return err
		}
	}
	return nil
}

// add reads one execution of the request, unless it is gone.
func (o Request) add(ctx context.Context, rr *remediationv1.RemediationRequest, name string, c *request.Children) error {
	var x remediationv1.KubernetesExecution
	sight, err := read.Find(ctx, o.Live, read.Key{Namespace: rr.Namespace, Name: name}, &x, func(x *remediationv1.KubernetesExecution) bool {
		return metav1.IsControlledBy(x, rr) && request.Asks(rr, x)
	})
	switch {
	case err != nil:
		*c = request.Children{}
		return err
	case sight != presence.Gone:
		c.List = append(c.List, childOf(&x, sight))
	}
	return nil
}

// allChildren reads all executions of a request that lost its status. It is rare, so it may list the namespace.
func (o Request) allChildren(ctx context.Context, rr *remediationv1.RemediationRequest) (c request.Children, err error) {
	var list remediationv1.KubernetesExecutionList
	if err := o.Live.List(ctx, &list, read.InNamespace(rr.Namespace)); err != nil {
		return c, fmt.Errorf("list executions: %w", err)
	}
	c.Looked = true
	for i := range list.Items {
		if x := &list.Items[i]; metav1.IsControlledBy(x, rr) && x.Spec.Parent != nil && x.Spec.Parent.UID == rr.UID {
			c.List = append(c.List, childOf(x, presence.Here))
		}
	}
	return c, nil
}

func childOf(x *remediationv1.KubernetesExecution, sight presence.State) request.Child {
	s := x.Status
	c := request.Child{
		Name: x.Name, Sight: sight, UID: x.UID, ResourceVersion: x.ResourceVersion, Cancelled: x.Spec.Cancel,
		Phase: s.Phase, Effect: s.Effect, Awaits: s.WaitingFor, Rollback: s.RollbackInformation,
	}
	if by := s.RolledBackBy; by != nil {
		c.TakenBackBy = by.UID
	}
	if p := x.Spec.Parent; p != nil {
		c.Step, c.Attempt, c.Undo = p.Step, p.Attempt, p.Undo
	}
	// What an execution says as it ends is in its history: Ready says in rollback_ready what it waits for after that.
	if move, known := s.LastMove(s.Phase); known {
		c.Reason, c.Message = move.Reason, move.Message
	}
	return c
}
