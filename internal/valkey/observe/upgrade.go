package observe

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// Upgrade observes a ValkeyUpgrade.
type Upgrade struct {
	Cached       read.Reader
	Live         read.Live
	Reservations read.Reservations
	Servers      read.Samples[Answers] // those of clusters, by the cluster's key
	// Template names the pod template that the cluster's controller would apply now for
	// the upgrade.
	Template func(*valkeyv1.ValkeyCluster, *valkeyv1.ValkeyUpgrade) string
}

// Observe reads everything that a decision about the upgrade may look at.
func (o Upgrade) Observe(ctx context.Context, u *valkeyv1.ValkeyUpgrade) (w upgrade.World, err error) {
	c, err := o.cluster(ctx, u)
	if err != nil {
		return w, err
	}
	if c == nil {
		w.Cluster.Sight = presence.Gone
		return w, nil
	}
	of := Cluster{Cached: o.Cached, Live: o.Live, Servers: o.Servers, Work: idle{}, young: youngWhileMaking}
	if u.Status.Phase == upgrade.Pending || u.Status.Phase == "" {
		of.young = youngAtRest
	}
	w.Cluster = upgrade.Cluster{Sight: presence.Here, UID: string(c.UID), Phase: c.Status.Phase, Paused: c.Spec.Paused, Deleting: c.DeletionTimestamp != nil}
	if at := c.Status.LastFailover; at != nil {
		w.Cluster.LastFailover = at.Time
	}
	if w.Cluster.Formed, err = of.formed(ctx, c); err != nil {
		return w, err
	}
	if w.Reservation, err = o.reservation(ctx, c, u); err != nil {
		return w, err
	}
	w.Template = o.Template(c, u)
	sets, err := of.shards(ctx, c, w.Cluster.Formed)
	if err != nil {
		return w, err
	}
	shape, err := of.recorded(ctx, c, sets)
	if err != nil {
		return w, err
	}
	for i, replicas := range shape {
		w.Shards = append(w.Shards, shardFacts(i, spec.ShardName(c, i), replicas, sets[spec.ShardName(c, i)]))
	}
	if w.Nodes, err = of.nodes(ctx, c, record{w.Cluster.Formed, shape, sets}); err != nil {
		return w, err
	}
	w.Captures, err = o.captures(ctx, c, u, w.Nodes)
	return w, err
}

// cluster is the one that the upgrade names; nil is the API server's own word that there is
// none, or not the one that was found before.
func (o Upgrade) cluster(ctx context.Context, u *valkeyv1.ValkeyUpgrade) (*valkeyv1.ValkeyCluster, error) {
	key := read.Key{Namespace: u.Namespace, Name: u.Spec.ClusterRef.Name}
	for _, from := range []read.Reader{o.Cached, o.Live} {
		var c valkeyv1.ValkeyCluster
		err := from.Get(ctx, key, &c)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read cluster: %w", err)
		}
		if found := u.Status.ClusterUID; err == nil && (found == "" || found == string(c.UID)) {
			return &c, nil
		}
	}
	return nil, nil
}

// reservation says whose the cluster is to operate on.
func (o Upgrade) reservation(ctx context.Context, c *valkeyv1.ValkeyCluster, u *valkeyv1.ValkeyUpgrade) (reserve.Fact, error) {
	r, err := o.Reservations.Of(ctx, c.UID)
	if err != nil {
		return reserve.Fact{}, fmt.Errorf("read reservation: %w", err)
	}
	return r.For(reserve.RefOf(kindOf(upgradeKind), u)), nil
}

// shardFacts is what a StatefulSet says of itself. One that is lost bears nothing, and its
// cluster makes it anew.
func shardFacts(index int, name string, replicas int, s *appsv1.StatefulSet) upgrade.Shard {
	shard := upgrade.Shard{Index: index, Name: name, Replicas: replicas}
	if s == nil {
		return shard
	}
	shard.UID, shard.Settled, shard.Revision = string(s.UID), settled(s), s.Status.UpdateRevision
	shard.Template, shard.Upgrade = s.Annotations[valkeyv1.TemplateAnnotation], markOf(s.Annotations[valkeyv1.UpgradeAnnotation])
	return shard
}

// markOf reads which upgrade a StatefulSet bears. What cannot be read is of the last moment:
// nothing is newer.
func markOf(text string) upgrade.Mark {
	if text == "" {
		return upgrade.Mark{}
	}
	at, uid, _ := strings.Cut(text, " ")
	created, err := time.Parse(time.RFC3339, at)
	if err != nil || uid == "" {
		return upgrade.Mark{UID: text, Created: time.Unix(1<<33, 0)}
	}
	return upgrade.Mark{UID: uid, Created: created}
}

// idle is no work that moves slots: under the reservation of an upgrade there is none.
type idle struct{}

// Work implements read.Works.
func (idle) Work(read.Key) (none read.Work[struct{}]) { return none }
