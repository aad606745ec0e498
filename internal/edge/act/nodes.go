package act

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Nodes writes what package node plans.
type Nodes struct{ Writer kube.Writer }

// Write makes one write. Each is for what was seen: another leader, or a person, may have written since. The Lease of a plan is
// filled in from the answer, so that the next renewal needs no read.
func (n Nodes) Write(ctx context.Context, w node.Write) error {
	switch w := w.(type) {
	case node.CreateNode:
		there := &corev1.Node{}
		return n.Writer.CreateUnowned(ctx, w.Node.DeepCopy(), there, func() bool { return there.Spec.ProviderID == w.Node.Spec.ProviderID })
	case node.PatchNode:
		return n.Writer.Patch(ctx, w.Was, w.Is.DeepCopy())
	case node.PatchStatus:
		return n.Writer.PatchStatus(ctx, w.Was, w.Is.DeepCopy())
	case node.DeleteNode:
		// Without its Node the cluster deletes a pod by force, and a StatefulSet would run twice: so it is the very Node whose pods
		// were listed.
		gone := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.Name}}
		return n.Writer.Delete(ctx, gone, kube.Seen{UID: w.UID, ResourceVersion: w.ResourceVersion})
	case node.CreateLease:
		there := &coordinationv1.Lease{}
		return n.Writer.CreateUnowned(ctx, w.Lease, there, func() bool { return sameNode(there, w.Lease) })
	case node.RenewLease:
		return n.Writer.Patch(ctx, w.Was, w.Is)
	}
	return fmt.Errorf("unknown write %T", w)
}

// sameNode says that two Leases are of one Node.
func sameNode(a, b *coordinationv1.Lease) bool {
	return slices.ContainsFunc(a.OwnerReferences, func(o metav1.OwnerReference) bool {
		return slices.ContainsFunc(b.OwnerReferences, func(p metav1.OwnerReference) bool { return o.UID == p.UID })
	})
}
