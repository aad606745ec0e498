package kube

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// AnyKind among the kinds of a sweep is every kind: an area that operates on whatever users name knows no list. A kind
// that is not served, or that the area may not read, proves nothing about its objects, so their Leases stay.
var AnyKind = schema.GroupKind{Group: "*", Kind: "*"}

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
	if ours := err == nil && (slices.Contains(kinds, AnyKind) || slices.ContainsFunc(kinds, target.Is)); !ours {
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
