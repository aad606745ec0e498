package remediation

import (
	"context"
	"errors"
	"fmt"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const markStays = "the acknowledgement was made before the outcome was unknown, and the mark stays"

// acknowledgingInAdvance acknowledges the outcome of an execution that is under way, and then its outcome becomes unknown.
// Admission cannot tell, so the manager must.
func acknowledgingInAdvance(t *testing.T, s *stage, a actor) error {
	x := s.execution(t, requester, "early-"+a.name, `{"phase":"waiting_approval",`+plan(digest)+`}`)
	early := approval(x, remediationv1.Acknowledged)
	if err := a.Create(t.Context(), early); err != nil {
		return err
	}
	m := marked{s.admin, read.Ref{Kind: "Deployment.apps", Namespace: namespace, Name: "early", UID: types.UID("early-" + a.name)}}
	by := reserve.RefOf(remediationv1.GroupVersion.WithKind("KubernetesExecution").GroupKind(), x)
	harness.Eventually(t, soon, poll, func() error { return m.after(t.Context(), by, early) })
	if resolved, err := m.resolve(t.Context()); err != nil || resolved {
		return err
	}
	later := approval(x, remediationv1.Acknowledged)
	if err := s.actors[approver].in(t).Create(t.Context(), later); err != nil {
		return err
	}
	if resolved, err := m.resolve(t.Context()); err != nil || !resolved {
		return fmt.Errorf("an acknowledgement that was made afterwards does not count: %w", err)
	}
	return errors.New(markStays)
}

// marked is a target that an execution may have changed.
type marked struct {
	admin  client.Client
	target read.Ref
}

func (m marked) env() kube.Env {
	return kube.Env{Client: m.admin, Live: m.admin, Namespace: harness.SystemNamespace}
}

func (m marked) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	return lease, m.admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: read.LeaseName(m.target.UID)}, lease)
}

// after marks the target, in a later second than that in which something was made.
func (m marked) after(ctx context.Context, by read.Ref, made client.Object) error {
	r := m.env().Reservations()
	if err := r.MarkUnresolved(ctx, m.target, reserve.Unresolved{By: by, Requester: requester}); err != nil {
		return err
	}
	lease, err := m.lease(ctx)
	if err != nil {
		return err
	}
	if at := read.MarkedAt(lease); !at.After(made.GetCreationTimestamp().Time) {
		return errors.Join(fmt.Errorf("the target was marked at %s", at), r.Resolve(ctx, m.target, by.UID))
	}
	return nil
}

// resolve lets the manager look once, with admission policies that have been in force for long.
func (m marked) resolve(ctx context.Context) (resolved bool, err error) {
	env := m.env()
	resolver := act.Resolver{
		Live: env.LiveReader(), Cached: env.Cached(), May: env.May(), Reservations: env.Reservations(), Left: func(int) {},
		Policies: func(context.Context) (guard.Verdict, error) { return guard.Verdict{}, nil },
	}
	if err := resolver.Resolve(ctx); err != nil {
		return false, err
	}
	lease, err := m.lease(ctx)
	return err == nil && read.UnresolvedOf(lease) == nil, err
}
