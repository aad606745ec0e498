package kube

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

const (
	reservationLabel  = "statecraft.dev/reservation"
	reservationTarget = read.TargetAnnotation
)

// Reservations takes and gives back targets. At most one operation is admitted
// for a target: the Lease named after its UID is changed by compare-and-swap.
// There is no expiry. A holder is replaced only when live reads show that it is
// gone or has ended, because a holder that is merely slow is still at work.
type Reservations struct {
	read.Reservations
	client client.Client
	mapper apimeta.RESTMapper
}

// perform performs the effects that every machine has on reservations, for the object that
// decided them.
func (r Reservations) perform(ctx context.Context, who read.Ref, e fsm.Effect) (known bool, err error) {
	switch e := e.(type) {
	case reserve.Take:
		return true, r.Take(ctx, e.Target, who)
	case reserve.Release:
		return true, r.Release(ctx, e.Target, who)
	case reserve.MarkUnresolved:
		return true, r.MarkUnresolved(ctx, e.Target, reserve.Unresolved{By: who, Requester: e.Requester})
	case reserve.Resolve:
		return true, r.Resolve(ctx, e.Target, e.Of)
	}
	return false, nil
}

// Take reserves target for who. Taking again what one holds does nothing, unless somebody took away what the Lease is found by.
func (r Reservations) Take(ctx context.Context, target, who read.Ref) error {
	lease, found, err := r.leaseOf(ctx, target)
	if err != nil {
		return err
	}
	if !found {
		lease = newLease(r.Namespace, target)
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: ptr.To(who.String()), LeaseTransitions: ptr.To(int32(1))}
		return Classify(r.client.Create(ctx, lease))
	}
	changed := identify(lease, target)
	if ptr.Deref(lease.Spec.HolderIdentity, "") != who.String() {
		if err := r.handOver(ctx, lease, who); err != nil {
			return err
		}
		changed = true
	}
	if !changed {
		return nil
	}
	// The resourceVersion that was judged is the precondition: who was faster, holds it.
	return Classify(r.client.Update(ctx, lease))
}

// handOver makes who the holder of a Lease that is free.
func (r Reservations) handOver(ctx context.Context, lease *coordinationv1.Lease, who read.Ref) error {
	res, err := r.Judge(ctx, lease)
	switch {
	case err != nil:
		return Classify(fmt.Errorf("judge reservation: %w", err))
	case !res.Free():
		say := "Waiting for " + res.Holder.Title() + ", which has reserved the target, to release it."
		return &fsm.Error{Class: fsm.Changed, Err: errors.New(say), Say: say}
	}
	lease.Spec.HolderIdentity = ptr.To(who.String())
	lease.Spec.LeaseTransitions = ptr.To(res.Transitions + 1)
	return nil
}

// Release gives the target back, if who holds it.
func (r Reservations) Release(ctx context.Context, target, who read.Ref) error {
	lease, found, err := r.leaseOf(ctx, target)
	if err != nil || !found || ptr.Deref(lease.Spec.HolderIdentity, "") != who.String() {
		return err
	}
	lease.Spec.HolderIdentity = nil
	return Classify(client.IgnoreNotFound(r.client.Update(ctx, lease)))
}

// leaseOf reads the Lease of a target live.
func (r Reservations) leaseOf(ctx context.Context, target read.Ref) (lease *coordinationv1.Lease, found bool, err error) {
	lease = &coordinationv1.Lease{}
	err = r.Live.Get(ctx, read.Key{Namespace: r.Namespace, Name: read.LeaseName(target.UID)}, lease)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, false, Classify(fmt.Errorf("read reservation: %w", err))
	}
	return lease, err == nil, nil
}

func newLease(namespace string, target read.Ref) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: read.LeaseName(target.UID)}}
	identify(lease, target)
	return lease
}

// identify gives a Lease the label and the target by which watches and sweeps find it: somebody may have taken them away.
func identify(lease *coordinationv1.Lease, target read.Ref) (changed bool) {
	if lease.Labels[reservationLabel] == "true" && lease.Annotations[reservationTarget] == target.String() {
		return false
	}
	metav1.SetMetaDataLabel(&lease.ObjectMeta, reservationLabel, "true")
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, reservationTarget, target.String())
	return true
}
