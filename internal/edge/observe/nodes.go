package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Nodes reads what is known of the Nodes of all devices.
type Nodes struct {
	Cached  read.Reader
	Cluster entry.Cluster
	Last    func(read.Key) Sweep
}

// Look gives the Nodes that exist first, because their Leases must not wait, and then the devices that have none yet.
func (o Nodes) Look(ctx context.Context) (all []node.Known, err error) {
	var pools edgev1.EdgePoolList
	if err := o.Cached.List(ctx, &pools); err != nil {
		return nil, fmt.Errorf("list pools: %w", err)
	}
	byName := map[string]*edgev1.EdgePool{}
	for i := range pools.Items {
		byName[pools.Items[i].Name] = &pools.Items[i]
	}
	var nodes corev1.NodeList
	if err := o.Cached.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("list Nodes: %w", err)
	}
	have := map[string]*corev1.Node{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		have[n.Name] = n
		id, is := node.IDOf(n)
		if !is || id.Cluster != o.Cluster {
			continue
		}
		known, err := o.known(ctx, byName[id.Pool], id, n)
		if err != nil {
			return nil, err
		}
		all = append(all, known)
	}
	for _, p := range byName {
		awaited, err := o.awaited(ctx, p, have)
		if err != nil {
			return nil, err
		}
		all = append(all, awaited...)
	}
	return all, nil
}

// awaited are the devices that a pool chooses and that have no Node of it yet.
func (o Nodes) awaited(ctx context.Context, p *edgev1.EdgePool, have map[string]*corev1.Node) (all []node.Known, err error) {
	for name := range o.Last(read.Key{Name: p.Name}).Chosen {
		id := node.ID{Cluster: o.Cluster, Pool: p.Name, Device: name}
		of, _ := node.Name(name)
		if there := have[of]; there != nil && there.Spec.ProviderID == id.String() {
			continue
		}
		known, err := o.known(ctx, p, id, have[of])
		if err != nil {
			return nil, err
		}
		all = append(all, known)
	}
	return all, nil
}

// known is what is known of one device. Without its pool only its Lease is kept.
func (o Nodes) known(ctx context.Context, p *edgev1.EdgePool, id node.ID, n *corev1.Node) (node.Known, error) {
	k := node.Known{ID: id, Node: n}
	if p == nil {
		return k, nil
	}
	k.Pool = node.Pool{Name: p.Name, Reserve: p.Spec.Reserve, Capacity: p.Spec.Capacity, Pods: int64(p.Spec.Pods)}
	k.Drains = p.DeletionTimestamp != nil
	sweep := o.Last(read.Key{Name: p.Name})
	if !sweep.Of(p) || sweep.Access.State != pool.Answered {
		return k, nil
	}
	seen := sweep.Devices[id.Device]
	k.Announces, k.Chosen = p.Status.Phase == pool.Serving, sweep.Chosen[id.Device]
	k.Device = node.Device{Device: seen.Device, Row: device.Of(o.Cluster, seen)}
	if n != nil {
		var pods corev1.PodList
		if err := o.Cached.List(ctx, &pods, read.Fields{ByNode: n.Name}); err != nil {
			return k, fmt.Errorf("list pods of Node %s: %w", n.Name, err)
		}
		k.Bound = len(pods.Items) > 0
	}
	return k, nil
}
