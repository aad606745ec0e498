// Package observe reads the worlds of area valkey: children and pods from the API
// server, and what the servers themselves say. It is handed readers only.
package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// The indexes by which caches are read: a namespace may have many clusters, and every pass of each reads some.
const (
	ByCluster = "cluster" // pods and StatefulSets, by the cluster that their label names
	ByOwner   = "owner"   // upgrades, by the UID of their controller
)

// How old what a server said may be: less than the time between two looks while
// something is being made, more than it while all rests.
const (
	youngWhileMaking = 150 * time.Millisecond
	youngAtRest      = 2 * EveryAtRest
	never            = -1
)

// Cluster observes a ValkeyCluster.
type Cluster struct {
	Build        spec.Builder
	Cached       read.Reader
	Live         read.Live
	Reservations read.Reservations
	Servers      read.Samples[Answers]
	Children     read.Children
	Work         read.Works[struct{}] // what moves slots
	Access       read.Works[struct{}] // what changes passwords and certificates
	Restarts     int                  // how many clusters the operator restarts at a time for reasons of its own
	// AwaitKubelet says that a refused connection proves nothing: somebody between the manager and pods may refuse.
	AwaitKubelet bool

	young time.Duration // how old what a server said may be; 0 is as old as the phase allows
}

// Observe reads everything that a decision about the cluster may look at.
func (o Cluster) Observe(ctx context.Context, c *valkeyv1.ValkeyCluster) (w cluster.World, err error) {
	if w.Formed, err = o.formed(ctx, c); err != nil {
		return w, err
	}
	shards, err := o.shards(ctx, c, w.Formed)
	if err != nil {
		return w, err
	}
	if w.Shape, err = o.shape(ctx, c, w.Formed, shards); err != nil {
		return w, err
	}
	if w.Reservation, w.Upgrade, err = o.reservation(ctx, c); err != nil {
		return w, err
	}
	if w.Own, err = o.ownUpgrades(ctx, c); err != nil {
		return w, err
	}
	w.Template, w.PodFields = o.Build.TemplateName(c, spec.Variant{}), spec.PodFields(c)
	if w.Places, err = o.places(ctx, c); err != nil {
		return w, err
	}
	if !w.Formed {
		if w.Access, err = o.access(ctx, c); err != nil {
			return w, err
		}
	}
	w.Migration = o.migration(read.Key{Namespace: c.Namespace, Name: c.Name})
	if w.Nodes, err = o.nodes(ctx, c, record{w.Formed, w.Shape, shards}); err != nil {
		return w, err
	}
	if err := o.applied(ctx, &w, c); err != nil {
		return w, err
	}
	if w.Claims, err = o.claims(ctx, c); err != nil {
		return w, err
	}
	w.Children, err = o.children(ctx, c, w)
	return w, err
}

// shape is that of a formed cluster as it is recorded, and of a new one as the spec asks for.
func (o Cluster) shape(ctx context.Context, c *valkeyv1.ValkeyCluster, formed bool, shards map[string]*appsv1.StatefulSet) (cluster.Shape, error) {
	if !formed {
		return cluster.Wanted(c), nil
	}
	return o.recorded(ctx, c, shards)
}

// migration is what is known of the work that moves slots.
func (o Cluster) migration(key read.Key) cluster.Migration {
	switch o.Work.Work(key).State {
	case read.WorkRunning:
		return cluster.Moving
	case read.WorkEnded:
		return cluster.Ended
	case read.WorkUnknown:
	}
	return ""
}

// formed reads the mark on the ConfigMap. That it is not there is believed only
// from a live read: whoever takes a formed cluster for a new one loses its data.
func (o Cluster) formed(ctx context.Context, c *valkeyv1.ValkeyCluster) (bool, error) {
	for _, from := range []read.Reader{o.Cached, o.Live} {
		var config corev1.ConfigMap
		err := from.Get(ctx, read.Key{Namespace: c.Namespace, Name: spec.EndpointName(c)}, &config)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("read ConfigMap: %w", err)
		}
		if err == nil && child.OwnedBy(&config, c.UID) && config.Annotations[valkeyv1.FormedAnnotation] != "" {
			return true, nil
		}
	}
	return false, nil
}

// record is what a cluster consists of: of a formed one, the StatefulSets that exist.
type record struct {
	formed bool
	shape  cluster.Shape
	shards map[string]*appsv1.StatefulSet // by name
}

// shards are the StatefulSets of the cluster that exist, by name.
func (o Cluster) shards(ctx context.Context, c *valkeyv1.ValkeyCluster, formed bool) (map[string]*appsv1.StatefulSet, error) {
	var list appsv1.StatefulSetList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace), read.Fields{ByCluster: c.Name}); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	shards := map[string]*appsv1.StatefulSet{}
	for i := range list.Items {
		if s := &list.Items[i]; child.OwnedBy(s, c.UID) {
			shards[s.Name] = s
		}
	}
	if !formed {
		return shards, nil
	}
	return shards, o.unlabelledShards(ctx, c, shards)
}

// recorded is the shape of a cluster that was formed. A shard whose StatefulSet is missing is as wide as the pods that
// it left: one that is made anew with less would remove servers.
func (o Cluster) recorded(ctx context.Context, c *valkeyv1.ValkeyCluster, shards map[string]*appsv1.StatefulSet) (cluster.Shape, error) {
	shape := recorded(c, shards)
	if len(shards) == 0 || len(shards) >= len(shape) {
		return shape, nil
	}
	pods, err := podsOf(ctx, o.Cached, read.Key{Namespace: c.Namespace, Name: c.Name})
	if err != nil {
		return nil, err
	}
	of := record{formed: true, shards: shards}
	for i := range shape {
		if shards[spec.ShardName(c, i)] != nil {
			continue
		}
		for j := shape[i] + 1; j <= maxReplicas; j++ {
			name := spec.PodName(c, i, j)
			if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == name && belongs(&p, of, c, i) }) {
				shape[i] = j
			}
		}
	}
	return shape, nil
}

// recorded is the shape of a cluster that was formed: the StatefulSets that exist
// are its record, not the spec, which may have been changed since. One that is
// missing is missed if the status still knows of it and the spec still wants it.
func recorded(c *valkeyv1.ValkeyCluster, shards map[string]*appsv1.StatefulSet) cluster.Shape {
	wanted := cluster.Wanted(c)
	if len(shards) == 0 {
		return wanted
	}
	masters, narrowest := min(len(wanted), int(c.Status.Masters)), maxReplicas
	for i := range maxShards {
		if s, exists := shards[spec.ShardName(c, i)]; exists {
			masters, narrowest = max(masters, i+1), min(narrowest, width(s))
		}
	}
	shape := cluster.Even(masters, narrowest)
	for i := range shape {
		if s, exists := shards[spec.ShardName(c, i)]; exists {
			shape[i] = width(s)
		}
	}
	return shape
}

// width is how many replicas a shard has by the record.
func width(s *appsv1.StatefulSet) int { return max(0, int(ptr.Deref(s.Spec.Replicas, 1))-1) }

// Limits as the schema has them.
const (
	maxShards   = 250
	maxReplicas = 5
)

// reservation says whose the cluster is to operate on, and what an upgrade asks for that
// has it.
func (o Cluster) reservation(ctx context.Context, c *valkeyv1.ValkeyCluster) (reserve.Fact, *cluster.Upgrade, error) {
	r, err := o.Reservations.Of(ctx, c.UID)
	if err != nil {
		return reserve.Fact{}, nil, fmt.Errorf("read reservation: %w", err)
	}
	fact := r.For(reserve.RefOf(kindOf("ValkeyCluster"), c))
	if fact.State != reserve.Others {
		return fact, nil, nil
	}
	upgrade, err := o.upgrade(ctx, c, r.Holder)
	return fact, upgrade, err
}

func kindOf(name string) schema.GroupKind {
	return schema.GroupKind{Group: valkeyv1.GroupVersion.Group, Kind: name}
}
