package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Pool reads the World of a pool.
type Pool struct {
	Cached  read.Reader
	Live    read.Live
	Cluster entry.Cluster
	Last    func(read.Key) Sweep
	// Connected is how many of the devices of a sweep are heard.
	Connected func(Sweep) int
	// Problems are devices that cannot be announced, as whoever keeps the Nodes has found.
	Problems func(pool string) []pool.Problem
	Now      func() time.Time
}

// somePods is how many pods are named that keep a pool from going.
const somePods = 5

// Observe reads the last sweep, and the Nodes: live before the pool goes.
func (o Pool) Observe(ctx context.Context, p *edgev1.EdgePool) (pool.World, error) {
	names, err := o.nodes(ctx, p)
	if err != nil {
		return pool.World{}, err
	}
	w := pool.World{Looked: true, Nodes: len(names), Problems: o.Problems(p.Name)}
	sweep := o.Last(read.Key{Name: p.Name})
	if !sweep.Of(p) {
		return w, nil
	}
	w.Access = sweep.Access
	w.Survey = pool.Survey{Complete: sweep.Complete(), Devices: len(sweep.Chosen), Connected: o.Connected(sweep)}
	w.Entries, w.Orphans = sweep.Inventory.Entries, sweep.Inventory.Orphans
	w.Unasked, w.Marked = sweep.Inventory.Unasked, sweep.Inventory.Marked
	w.Pods.Listed = !sweep.BoundAt.IsZero()
	var all []string
	for _, b := range sweep.Pods {
		if slices.Contains(names, node.NamePrefix+b.Device) {
			all = append(all, b.Pod)
		}
	}
	slices.Sort(all)
	w.Pods.Count, w.Pods.Some = len(all), all[:min(len(all), somePods)]
	return w, nil
}

// nodes are the names of the Nodes of a pool. That there is none, so that a pool may go, is believed only from a live list.
func (o Pool) nodes(ctx context.Context, p *edgev1.EdgePool) (names []string, err error) {
	var list corev1.NodeList
	if err := o.Cached.List(ctx, &list, read.Fields{ByPool: p.Name}); err != nil {
		return nil, fmt.Errorf("list Nodes of pool %s: %w", p.Name, err)
	}
	if len(list.Items) == 0 && p.DeletionTimestamp != nil {
		if err := o.Live.List(ctx, &list); err != nil {
			return nil, fmt.Errorf("list Nodes: %w", err)
		}
	}
	for i := range list.Items {
		if id, is := node.IDOf(&list.Items[i]); is && id.Cluster == o.Cluster && id.Pool == p.Name {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, nil
}
