package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Resolver frees targets whose unknown outcome a person has acknowledged.
type Resolver struct {
	Live         read.Live
	Cached       read.Reader
	May          read.May
	Policies     func(context.Context) (guard.Verdict, error)
	Reservations kube.Reservations
	// Left is told how many marks are left.
	Left func(int)
}

// Resolve looks through all marks once.
func (r Resolver) Resolve(ctx context.Context) error {
	var leases coordinationv1.LeaseList
	if err := r.Cached.List(ctx, &leases); err != nil {
		return fmt.Errorf("list reservations: %w", err)
	}
	var errs []error
	left := 0
	for i := range leases.Items {
		mark := read.UnresolvedOf(&leases.Items[i])
		if mark == nil {
			continue
		}
		resolved, err := r.resolve(ctx, &leases.Items[i], *mark)
		errs = append(errs, err)
		if !resolved {
			left++
		}
	}
	r.Left(left)
	return errors.Join(errs...)
}

// resolve takes a mark off if a person who may has acknowledged it since it was made. What would be lost is the knowledge
// that a person must look at the target.
func (r Resolver) resolve(ctx context.Context, lease *coordinationv1.Lease, mark reserve.Unresolved) (bool, error) {
	target, err := kube.ReservationTarget(lease)
	if err != nil {
		return false, nil //nolint:nilerr // a Lease that names no target is for a person to mend, not for the next look
	}
	var list remediationv1.ExecutionApprovalList
	if err := r.Live.List(ctx, &list, read.InNamespace(mark.By.Namespace)); err != nil {
		return false, fmt.Errorf("list acknowledgements: %w", err)
	}
	said := slices.DeleteFunc(list.Items, func(a remediationv1.ExecutionApproval) bool {
		return a.Spec.Decision != remediationv1.Acknowledged || a.Spec.ExecutionRef.UID != mark.By.UID || a.Spec.ExecutionRef.Name != mark.By.Name
	})
	if len(said) == 0 {
		return false, nil
	}
	since, err := r.markedAt(ctx, lease)
	if err != nil {
		return false, err
	}
	for i := range said {
		a := &said[i]
		if a.CreationTimestamp.Time.Before(since) {
			continue // before there was anything to look at
		}
		switch counts, err := r.counts(ctx, a, mark); {
		case err != nil:
			return false, err
		case counts:
			return true, r.Reservations.Resolve(ctx, target, mark.By.UID)
		}
	}
	return false, nil
}

// markedAt is when the outcome became unknown: an acknowledgement from before says nothing about the target. Both times
// are the API server's, cut to seconds.
func (r Resolver) markedAt(ctx context.Context, lease *coordinationv1.Lease) (time.Time, error) {
	var is coordinationv1.Lease
	if err := r.Live.Get(ctx, read.Key{Namespace: lease.Namespace, Name: lease.Name}, &is); err != nil {
		return time.Time{}, fmt.Errorf("read mark of a target: %w", err)
	}
	return read.MarkedAt(&is), nil
}

// counts says that an acknowledgement is that of a person who may approve, and who did not ask for the execution, nor may act
// as the ServiceAccount that did.
func (r Resolver) counts(ctx context.Context, a *remediationv1.ExecutionApproval, mark reserve.Unresolved) (bool, error) {
	who := a.Spec.Approver
	if who == nil || who.Username == "" || who.Username == mark.Requester || strings.HasPrefix(who.Username, "system:serviceaccount:") {
		return false, nil
	}
	verdict, err := r.Policies(ctx)
	if err != nil || verdict.Gap != "" || verdict.TooEarly("the acknowledgement", a.CreationTimestamp.Time) != "" {
		return false, err
	}
	access, err := r.May(ctx, who, read.Right{
		Group: remediationv1.GroupName, Resource: "kubernetesexecutions", Verb: remediationv1.VerbApprove,
		Namespace: a.Namespace, Name: mark.By.Name,
	})
	if err != nil || !access.Allowed {
		return false, err
	}
	alone, err := read.MayActAs(ctx, r.May, who, mark.Requester)
	return !alone, err
}
