package observe

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// places are those of the restarts that the operator may make at a time. They are read from the cache, which may be
// behind, because every cluster that waits reads them: whoever begins takes its place by a live read.
func (o Cluster) places(ctx context.Context, c *valkeyv1.ValkeyCluster) (places []cluster.RestartPlace, err error) {
	for n := 1; n <= o.Restarts; n++ {
		p := cluster.RestartPlace{Number: n, Fact: reserve.Fact{State: reserve.Free}}
		var lease coordinationv1.Lease
		err := o.Cached.Get(ctx, read.Key{Namespace: o.Reservations.Namespace, Name: read.LeaseName(cluster.PlaceRef(n).UID)}, &lease)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read place of restarts: %w", err)
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
			if p.Fact, p.Failed, err = o.placeHeld(ctx, c, holder); err != nil {
				return nil, err
			}
		}
		places = append(places, p)
	}
	return places, nil
}

// placeHeld is whose a place is, and whether the restart failed that it was held for. One whose holder is not in the
// cache seems free; whoever takes it asks the API server.
func (o Cluster) placeHeld(ctx context.Context, c *valkeyv1.ValkeyCluster, by string) (is reserve.Fact, failed bool, err error) {
	holder, err := reserve.ParseRef(by)
	if err != nil {
		return reserve.Fact{}, false, fmt.Errorf("read holder of a place: %w", err)
	}
	if holder.UID == c.UID {
		return reserve.Fact{State: reserve.Ours}, false, nil
	}
	var other valkeyv1.ValkeyCluster
	switch err := o.Cached.Get(ctx, read.Key{Namespace: holder.Namespace, Name: holder.Name}, &other); {
	case apierrors.IsNotFound(err), err == nil && other.UID != holder.UID:
		return reserve.Fact{State: reserve.Free}, false, nil
	case err != nil:
		return reserve.Fact{State: reserve.Others, Holder: holder.Title()}, false, nil //nolint:nilerr // this manager does not look at its namespace
	}
	var list valkeyv1.ValkeyUpgradeList
	if err := o.Cached.List(ctx, &list, read.InNamespace(other.Namespace), read.Fields{ByOwner: string(other.UID)}); err != nil {
		return reserve.Fact{}, false, fmt.Errorf("list upgrades of %s: %w", holder.Title(), err)
	}
	for i := range list.Items {
		phase := list.Items[i].Status.Phase
		if !upgrade.Ended(phase) {
			return reserve.Fact{State: reserve.Others, Holder: holder.Title()}, false, nil
		}
		failed = failed || phase != upgrade.Completed
	}
	return reserve.Fact{State: reserve.Others, Holder: holder.Title()}, failed, nil
}
