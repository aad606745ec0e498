package read

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Ref names one object for good.
type Ref = reserve.Ref

// Reservation is who holds a target. The zero value is: nobody.
type Reservation struct {
	Holder      Ref
	Abandoned   bool  // the holder is gone, or rests: whoever needs it may take it over
	Transitions int32 // how often it changed hands
}

// Free says that it may be taken.
func (r Reservation) Free() bool { return r.Holder == (Ref{}) || r.Abandoned }

// HeldBy says that who holds it.
func (r Reservation) HeldBy(who Ref) bool { return r.Holder == who }

// For is what the reservation is to an object.
func (r Reservation) For(who Ref) reserve.Fact {
	switch {
	case r.HeldBy(who):
		return reserve.Fact{State: reserve.Ours}
	case r.Free():
		return reserve.Fact{State: reserve.Free}
	}
	return reserve.Fact{State: reserve.Others, Holder: r.Holder.Title()}
}

// Liveness tells whether a holder may still be at work. It answers from live
// reads; an error means that nobody knows, which is not "gone".
type Liveness func(ctx context.Context, h Ref) (alive bool, err error)

// Reservations reads who holds what.
type Reservations struct {
	Live      Live
	Namespace string // where the Leases are, the same for all areas
	Alive     Liveness
}

// LeaseName is the name of a target's Lease.
func LeaseName(target types.UID) string { return "reservation-" + string(target) }

// Of reads the reservation of a target, live.
func (r Reservations) Of(ctx context.Context, target types.UID) (Reservation, error) {
	var lease coordinationv1.Lease
	err := r.Live.Get(ctx, Key{Namespace: r.Namespace, Name: LeaseName(target)}, &lease)
	if apierrors.IsNotFound(err) {
		return Reservation{}, nil
	}
	if err != nil {
		return Reservation{}, fmt.Errorf("read reservation of %s: %w", target, err)
	}
	return r.Judge(ctx, &lease)
}

// Judge says who holds a Lease that was just read live.
func (r Reservations) Judge(ctx context.Context, lease *coordinationv1.Lease) (Reservation, error) {
	var res Reservation
	if n := lease.Spec.LeaseTransitions; n != nil {
		res.Transitions = *n
	}
	if id := lease.Spec.HolderIdentity; id == nil || *id == "" {
		return res, nil
	}
	var err error
	if res.Holder, err = reserve.ParseRef(*lease.Spec.HolderIdentity); err != nil {
		return res, err
	}
	alive, err := r.Alive(ctx, res.Holder)
	res.Abandoned = err == nil && !alive
	return res, err
}
