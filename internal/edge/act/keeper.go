package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Keeper keeps the Nodes of devices and their Leases.
type Keeper struct {
	Nodes Nodes
	// Look gives what is known, first of the Nodes that exist.
	Look func(context.Context) ([]node.Known, error)
	// Live reads Leases that are not remembered, and lists the pods of a Node that is to go.
	Live read.Live
	Now  func() time.Time

	// leases are as they were written last, so that a renewal is one request.
	leases map[string]*coordinationv1.Lease

	mu       sync.Mutex
	problems map[string][]pool.Problem
}

// Problems are the devices of a pool that cannot be announced.
func (k *Keeper) Problems(name string) []pool.Problem {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.problems[name]
}

// Keep looks at all Nodes once. What fails for one does not keep the others from their Leases.
func (k *Keeper) Keep(ctx context.Context) error {
	all, err := k.Look(ctx)
	if err != nil {
		return err
	}
	if k.leases == nil {
		k.leases = map[string]*coordinationv1.Lease{}
	}
	problems := map[string][]pool.Problem{}
	var errs []error
	for _, known := range all {
		problem, err := k.keep(ctx, known)
		if problem != "" {
			problems[known.ID.Pool] = append(problems[known.ID.Pool], pool.Problem{Device: known.ID.Device, Why: problem})
		}
		if err != nil && fsm.ClassOf(err) != fsm.Changed { // what has changed is looked at again
			errs = append(errs, err)
		}
	}
	for _, some := range problems {
		slices.SortFunc(some, func(a, b pool.Problem) int { return strings.Compare(a.Device, b.Device) })
	}
	k.mu.Lock()
	k.problems = problems
	k.mu.Unlock()
	return errors.Join(errs...)
}

func (k *Keeper) keep(ctx context.Context, known node.Known) (node.Problem, error) {
	wish := known.Wish()
	found := node.Found{Node: known.Node}
	if id, is := nodeID(known.Node); is && id == known.ID {
		var err error
		if found.Lease, err = k.lease(ctx, known.Node); err != nil {
			return "", err
		}
		if wish.Leaves {
			if found.Pods, err = k.pods(ctx, known.Node.Name); err != nil {
				return "", err
			}
		}
	}
	plan := node.Step(wish, found, k.Now())
	for _, w := range plan.Writes {
		if err := k.write(ctx, w); err != nil {
			return plan.Problem, err
		}
	}
	return plan.Problem, nil
}

func nodeID(n *corev1.Node) (id node.ID, is bool) {
	if n == nil {
		return id, false
	}
	return node.IDOf(n)
}

// write writes, and remembers Leases. One of which the answer is not known is read again.
func (k *Keeper) write(ctx context.Context, w node.Write) error {
	err := k.Nodes.Write(ctx, w)
	switch w := w.(type) {
	case node.CreateLease:
		delete(k.leases, w.Lease.Name)
	case node.RenewLease:
		if delete(k.leases, w.Was.Name); err == nil {
			k.leases[w.Is.Name] = w.Is
		}
	case node.CreateNode, node.DeleteNode, node.PatchNode, node.PatchStatus: // Nodes are cached
	}
	return err
}

// lease is the Lease of a Node; nil if there is none. One that is remembered of a Node that had the name before is read again: it goes
// with that Node, and would keep this one from having its own.
func (k *Keeper) lease(ctx context.Context, n *corev1.Node) (*coordinationv1.Lease, error) {
	owned := func(o metav1.OwnerReference) bool { return o.UID == n.UID }
	if lease := k.leases[n.Name]; lease != nil && slices.ContainsFunc(lease.OwnerReferences, owned) {
		return lease, nil
	}
	lease := &coordinationv1.Lease{}
	state, err := read.Find(ctx, k.Live, read.Key{Namespace: corev1.NamespaceNodeLease, Name: n.Name}, lease, nil)
	if err != nil || state == presence.Gone {
		return nil, err
	}
	k.leases[n.Name] = lease
	return lease, nil
}

// pods lists those of a Node live, in whatever phase they are.
func (k *Keeper) pods(ctx context.Context, name string) (node.BoundPods, error) {
	var list corev1.PodList
	if err := k.Live.List(ctx, &list, read.Fields{"spec.nodeName": name}); err != nil {
		return node.BoundPods{}, fmt.Errorf("list pods of Node %s: %w", name, err)
	}
	return node.BoundPods{Listed: true, Count: len(list.Items)}, nil
}
