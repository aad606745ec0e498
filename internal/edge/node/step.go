package node

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	renewal       = 20 * time.Second // of Leases, against the fifty seconds that Kubernetes grants
	leaseDuration = 40
	soon          = time.Second
	// quarantine is how long a Node that is to go stays closed before it goes: longer than a pod takes that was
	// about to be bound to it.
	quarantine = 30 * time.Second
)

// Wish is what a Node should be.
type Wish struct {
	ID ID
	// Node is as it should be; nil while its device is not known, because Flight Control was not asked or does not answer. Then
	// only the Lease is kept.
	Node *corev1.Node
	// Leaves says that the device is not announced any more, and Evicts that its pods are to go, too, by Kubernetes' own
	// eviction: tolerations count.
	Leaves, Evicts bool
}

// Found is what there is.
type Found struct {
	Node  *corev1.Node          // nil if there is none
	Lease *coordinationv1.Lease // nil if there is none
	Pods  BoundPods
}

// BoundPods is what a live list of the pods of a Node said. The zero value is that they were not listed, which is not that
// there are none.
type BoundPods struct {
	Listed bool
	Count  int
}

// None says that a live list found no pod, in whatever phase.
func (p BoundPods) None() bool { return p.Listed && p.Count == 0 }

// Write is one write. Each carries what was seen, so that a write to another object, or over an edit, is refused.
//
//sumtype:decl
type Write interface{ write() }

// CreateNode makes the Node, by POST: one that is there is not taken over.
type CreateNode struct{ Node *corev1.Node }

// PatchNode changes what is ours of labels, annotations and taints.
type PatchNode struct{ Was, Is *corev1.Node }

// PatchStatus changes what is ours of the status.
type PatchStatus struct{ Was, Is *corev1.Node }

// DeleteNode deletes the very Node that was seen. If it were wrong, the cluster would delete pods by force that still run.
type DeleteNode struct {
	Name            string
	UID             types.UID
	ResourceVersion string
}

// CreateLease and RenewLease say that we live.
type CreateLease struct{ Lease *coordinationv1.Lease }

// RenewLease is CreateLease for a Lease that exists.
type RenewLease struct{ Was, Is *coordinationv1.Lease }

func (CreateNode) write()  {}
func (PatchNode) write()   {}
func (PatchStatus) write() {}
func (DeleteNode) write()  {}
func (CreateLease) write() {}
func (RenewLease) write()  {}

// Plan is what to write now, and when to look again.
type Plan struct {
	Writes  []Write
	Again   time.Duration
	Problem Problem
}

// Step plans one device.
func Step(wish Wish, found Found, now time.Time) Plan {
	if _, fits := Name(wish.ID.Device); !fits {
		return Plan{Again: renewal, Problem: NameTooLong}
	}
	node := found.Node
	if node == nil {
		if wish.Node == nil || wish.Leaves {
			return Plan{Again: renewal}
		}
		return Plan{Writes: []Write{CreateNode{begun(wish.Node, now)}}, Again: soon}
	}
	if problem := taken(node, wish.ID); problem != "" {
		return Plan{Again: renewal, Problem: problem}
	}
	plan := keepLease(node, found.Lease, now)
	if node.DeletionTimestamp != nil { // somebody holds it by a finalizer; it is made again once it is gone
		return plan
	}
	var next Plan
	switch {
	case wish.Leaves:
		next = remove(found, wish.Evicts, now)
	case wish.Node != nil:
		next = shape(wish.Node, node, now)
	default:
		return plan
	}
	return Plan{Writes: append(plan.Writes, next.Writes...), Again: min(plan.Again, next.Again)}
}

// begun is a Node that is made: its conditions begin now.
func begun(node *corev1.Node, now time.Time) *corev1.Node {
	node = node.DeepCopy()
	for i := range node.Status.Conditions {
		node.Status.Conditions[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		node.Status.Conditions[i].LastHeartbeatTime = node.Status.Conditions[i].LastTransitionTime
	}
	return node
}
