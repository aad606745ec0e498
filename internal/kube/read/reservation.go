package read

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// Unresolved is the mark on the target, if it bears one. It says nothing about who may take the target.
	Unresolved *reserve.Unresolved
}

// Free says that it may be taken.
func (r Reservation) Free() bool { return r.Holder == (Ref{}) || r.Abandoned }

// HeldBy says that who holds it.
func (r Reservation) HeldBy(who Ref) bool { return r.Holder == who }

// For is what the reservation is to an object. A parent and its children work on a target together: what one of its family
// holds is the object's as well, until that one is gone or has ended.
func (r Reservation) For(who Ref, family ...Ref) reserve.Fact {
	switch {
	case r.HeldBy(who):
		return reserve.Fact{State: reserve.Ours, Unresolved: r.Unresolved}
	case r.Free():
		return reserve.Fact{State: reserve.Free, Unresolved: r.Unresolved}
	case slices.ContainsFunc(family, r.HeldBy):
		return reserve.Fact{State: reserve.Ours, Unresolved: r.Unresolved}
	}
	return reserve.Fact{State: reserve.Others, Holder: r.Holder.Title(), Unresolved: r.Unresolved}
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

// UnresolvedAnnotation is the mark of a Lease whose target may have been changed without anybody knowing.
const UnresolvedAnnotation = "statecraft.dev/unresolved"

// UnresolvedOf is the mark of a Lease; nil if it has none. A mark that cannot be read still says that somebody must look
// at the target, so it is a mark, of nobody.
func UnresolvedOf(lease *coordinationv1.Lease) *reserve.Unresolved {
	text, marked := lease.Annotations[UnresolvedAnnotation]
	if !marked {
		return nil
	}
	var mark reserve.Unresolved
	if err := json.Unmarshal([]byte(text), &mark); err != nil {
		return &reserve.Unresolved{}
	}
	return &mark
}

// MarkedAt is when a Lease got its mark, by the clock of the API server, which keeps the time of each writer's last change.
// A Lease whose writers were removed was marked after it was made; more is not known of it. It is for Leases that
// were read live: caches drop the writers.
func MarkedAt(lease *coordinationv1.Lease) time.Time {
	at := lease.CreationTimestamp.Time
	for _, by := range lease.ManagedFields {
		if by.Time != nil && by.Time.After(at) && writesMark(by) {
			at = by.Time.Time
		}
	}
	return at
}

// writesMark says that the mark of a Lease is among the fields that this writer has set.
func writesMark(by metav1.ManagedFieldsEntry) bool {
	var fields struct {
		Metadata struct {
			Annotations map[string]any `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if by.FieldsV1 == nil || json.Unmarshal(by.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, writes := fields.Metadata.Annotations["f:"+UnresolvedAnnotation]
	return writes
}

// TargetAnnotation is, on a Lease, the object that it reserves.
const TargetAnnotation = "statecraft.dev/target"

// TargetOf is the object that a Lease reserves.
func TargetOf(lease *coordinationv1.Lease) (Ref, error) {
	return reserve.ParseRef(lease.Annotations[TargetAnnotation])
}

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
	res := Reservation{Unresolved: UnresolvedOf(lease)}
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
