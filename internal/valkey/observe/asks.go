package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

const upgradeKind = "ValkeyUpgrade"

// upgrade is what the upgrade that has the reservation asks for. An older version of it
// asks for less, which is then asked again.
func (o Cluster) upgrade(ctx context.Context, c *valkeyv1.ValkeyCluster, holder read.Ref) (*cluster.Upgrade, error) {
	if !holder.Is(kindOf(upgradeKind)) || holder.Namespace != c.Namespace {
		return nil, nil
	}
	var u valkeyv1.ValkeyUpgrade
	err := o.Cached.Get(ctx, read.Key{Namespace: holder.Namespace, Name: holder.Name}, &u)
	if apierrors.IsNotFound(err) || err == nil && u.UID != holder.UID {
		return &cluster.Upgrade{Name: holder.Name}, nil // it holds, and what it asks for is not known yet
	}
	if err != nil {
		return nil, fmt.Errorf("read upgrade: %w", err)
	}
	found := &cluster.Upgrade{Name: u.Name}
	for _, s := range u.Status.Shards {
		if s.WantTemplate == "" && s.WantReplicas == nil {
			continue
		}
		ask := cluster.Ask{Shard: int(s.Index), Template: s.WantTemplate}
		if s.WantReplicas != nil {
			replicas := int(*s.WantReplicas)
			ask.Replicas = &replicas
		}
		found.Asks = append(found.Asks, ask)
	}
	return found, nil
}

// ownUpgrades are those that the cluster made.
func (o Cluster) ownUpgrades(ctx context.Context, c *valkeyv1.ValkeyCluster) (own []cluster.OwnUpgrade, err error) {
	var list valkeyv1.ValkeyUpgradeList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace), read.Fields{ByOwner: string(c.UID)}); err != nil {
		return nil, fmt.Errorf("list upgrades: %w", err)
	}
	for i := range list.Items {
		if u := &list.Items[i]; child.OwnedBy(u, c.UID) && u.DeletionTimestamp == nil {
			phase := string(u.Status.Phase)
			own = append(own, cluster.OwnUpgrade{Name: u.Name, UID: string(u.UID), Version: u.ResourceVersion, Phase: phase, Ended: upgrade.Ended(u.Status.Phase)})
		}
	}
	return own, nil
}
