package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// MarkUnresolved marks a target, whoever holds it. A mark that is there is left as it is: that of another operation would be
// lost, and one that cannot be read may be another's.
func (r Reservations) MarkUnresolved(ctx context.Context, target read.Ref, mark reserve.Unresolved) error {
	lease, found, err := r.leaseOf(ctx, target)
	switch {
	case err != nil:
		return err
	case !found:
		lease = newLease(r.Namespace, target)
	case read.UnresolvedOf(lease) != nil:
		return nil
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return fmt.Errorf("write mark of %s: %w", mark.By.Title(), err)
	}
	identify(lease, target) // or its target could never be found gone
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, read.UnresolvedAnnotation, string(text))
	if !found {
		return Classify(r.client.Create(ctx, lease))
	}
	return Classify(r.client.Update(ctx, lease))
}

// Resolve removes the mark of one operation. Another's stays, because nobody has said anything about that one.
func (r Reservations) Resolve(ctx context.Context, target read.Ref, of types.UID) error {
	lease, found, err := r.leaseOf(ctx, target)
	if err != nil || !found {
		return err
	}
	switch mark := read.UnresolvedOf(lease); {
	case mark == nil:
		return nil
	case mark.By == read.Ref{}:
		say := fmt.Sprintf("The annotation %s of Lease %s/%s cannot be read; look at the target, then remove the annotation.",
			read.UnresolvedAnnotation, lease.Namespace, lease.Name)
		return &fsm.Error{Class: fsm.Changed, Err: errors.New(say), Say: say}
	case mark.By.UID != of:
		return nil
	}
	delete(lease.Annotations, read.UnresolvedAnnotation)
	return Classify(client.IgnoreNotFound(r.client.Update(ctx, lease)))
}

// ReservationTarget names the target of a reservation.
func ReservationTarget(lease *coordinationv1.Lease) (read.Ref, error) {
	return read.TargetOf(lease)
}
