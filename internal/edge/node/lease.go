package node

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepLease renews the Lease of a Node of ours, whatever is known of its device.
func keepLease(node *corev1.Node, lease *coordinationv1.Lease, now time.Time) Plan {
	if lease == nil {
		return Plan{Writes: []Write{CreateLease{newLease(node, now)}}, Again: renewal}
	}
	if isOfAnother(lease, node) { // of a Node that went; garbage collection takes it
		return Plan{Again: soon}
	}
	if t := lease.Spec.RenewTime; t != nil {
		if left := renewal - now.Sub(t.Time); left > 0 && left <= renewal {
			return Plan{Again: left}
		}
	}
	is := lease.DeepCopy()
	is.Spec.RenewTime = &metav1.MicroTime{Time: now}
	is.Spec.HolderIdentity, is.Spec.LeaseDurationSeconds = &node.Name, new(int32(leaseDuration))
	is.OwnerReferences = []metav1.OwnerReference{ownedBy(node)}
	return Plan{Writes: []Write{RenewLease{lease, is}}, Again: renewal}
}

func ownedBy(node *corev1.Node) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
}

func isOfAnother(lease *coordinationv1.Lease, node *corev1.Node) bool {
	return slices.ContainsFunc(lease.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" && o.UID != node.UID })
}

// newLease goes with its Node.
func newLease(node *corev1.Node, now time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: corev1.NamespaceNodeLease, Name: node.Name,
			OwnerReferences: []metav1.OwnerReference{ownedBy(node)},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &node.Name, LeaseDurationSeconds: new(int32(leaseDuration)), RenewTime: &metav1.MicroTime{Time: now},
		},
	}
}
