package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

const (
	reservationLabel  = "statecraft.dev/reservation"
	reservationTarget = "statecraft.dev/target"
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
	}
	return false, nil
}

// Take reserves target for who. Taking again what one holds does nothing.
func (r Reservations) Take(ctx context.Context, target, who read.Ref) error {
	var lease coordinationv1.Lease
	key := read.Key{Namespace: r.Namespace, Name: read.LeaseName(target.UID)}
	err := r.Live.Get(ctx, key, &lease)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, key, target, who)
	}
	if err != nil {
		return Classify(fmt.Errorf("read reservation: %w", err))
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") == who.String() {
		return nil
	}
	res, err := r.Judge(ctx, &lease)
	switch {
	case err != nil:
		return Classify(fmt.Errorf("judge reservation: %w", err))
	case !res.Free():
		say := "Waiting for " + res.Holder.Title() + ", which has reserved the target, to release it."
		return &fsm.Error{Class: fsm.Changed, Err: errors.New(say), Say: say}
	}
	lease.Spec.HolderIdentity = ptr.To(who.String())
	lease.Spec.LeaseTransitions = ptr.To(res.Transitions + 1)
	metav1.SetMetaDataLabel(&lease.ObjectMeta, reservationLabel, "true") // watches and sweeps find it by that
	// The resourceVersion that was judged is the precondition: who was faster, holds it.
	return Classify(r.client.Update(ctx, &lease))
}

func (r Reservations) create(ctx context.Context, key read.Key, target, who read.Ref) error {
	return Classify(r.client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels:      map[string]string{reservationLabel: "true"},
			Annotations: map[string]string{reservationTarget: target.String()},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(who.String()), LeaseTransitions: ptr.To(int32(1))},
	}))
}

// Release gives the target back, if who holds it.
func (r Reservations) Release(ctx context.Context, target, who read.Ref) error {
	var lease coordinationv1.Lease
	key := read.Key{Namespace: r.Namespace, Name: read.LeaseName(target.UID)}
	if err := r.Live.Get(ctx, key, &lease); err != nil {
		return Classify(client.IgnoreNotFound(err))
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") != who.String() {
		return nil
	}
	lease.Spec.HolderIdentity = nil
	return Classify(client.IgnoreNotFound(r.client.Update(ctx, &lease)))
}

// sweepPage is how many Leases a sweep reads at a time.
const sweepPage = 500

// Sweep deletes the Leases of targets of these kinds that are gone. What would be lost if a
// target were not gone is the knowledge that somebody operates on it, so it goes by a live
// read and the version that was seen.
func (r Reservations) Sweep(ctx context.Context, kinds ...schema.GroupKind) (swept int, err error) {
	for page := ""; ; {
		var leases coordinationv1.LeaseList
		if err := r.Live.List(ctx, &leases, client.InNamespace(r.Namespace), client.MatchingLabels{reservationLabel: "true"},
			client.Limit(sweepPage), client.Continue(page)); err != nil {
			return swept, fmt.Errorf("list reservations: %w", err)
		}
		for i := range leases.Items {
			gone, err := r.sweep(ctx, &leases.Items[i], kinds)
			if err != nil {
				return swept, err
			}
			if gone {
				swept++
			}
		}
		if page = leases.Continue; page == "" {
			return swept, nil
		}
	}
}

// sweep deletes one Lease whose target is gone. Not known to be gone is not gone.
func (r Reservations) sweep(ctx context.Context, lease *coordinationv1.Lease, kinds []schema.GroupKind) (gone bool, err error) {
	target, err := reserve.ParseRef(lease.Annotations[reservationTarget])
	if ours := err == nil && slices.ContainsFunc(kinds, target.Is); !ours {
		return false, nil
	}
	there, err := getRef(ctx, r.Live, r.mapper, target)
	if targetGone := err == nil && there == nil; !targetGone {
		return false, nil
	}
	seen := SeenOf(lease)
	err = r.client.Delete(ctx, lease, client.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return false, fmt.Errorf("delete reservation %s: %w", lease.Name, err)
	}
	return err == nil, nil
}
