// Package act performs the effects of area valkey. It is the only package of the
// area that is handed writers.
package act

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster performs the effects of a ValkeyCluster.
type Cluster struct {
	Children     kube.Writer
	Reservations kube.Reservations
	Servers      wire.Writer
	// Marks owns nothing but the mark that a cluster was formed: under one name with
	// the rest, an apply by somebody who has not seen it yet would remove it.
	Marks kube.Writer
}

// Act performs one effect.
func (a Cluster) Act(ctx context.Context, c *valkeyv1.ValkeyCluster, effect fsm.Effect) (string, error) {
	switch e := effect.(type) {
	case cluster.TakeReservation:
		self := kube.RefOf("ValkeyCluster", valkeyv1.GroupVersion.Group, c)
		return "", a.Reservations.Take(ctx, self, self)
	case cluster.ReleaseReservation:
		self := kube.RefOf("ValkeyCluster", valkeyv1.GroupVersion.Group, c)
		return "", a.Reservations.Release(ctx, self, self)
	case cluster.ApplyChild:
		return "", a.apply(ctx, c, e)
	case cluster.MarkFormed:
		return "", a.markFormed(ctx, c, e)
	case cluster.DeletePod:
		// If it were wrong, what the pod's server holds would be lost: so only this very
		// pod in this very version goes, in which no server had run.
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: e.Name}}
		return "", a.Children.Delete(ctx, pod, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
	case cluster.Meet:
		return "", a.meet(ctx, e)
	case cluster.AddSlots:
		return "", classify(e.At.Pod, a.Servers.AddSlots(ctx, target(e.At), e.Slots))
	case cluster.SetNodeTimeout:
		return "", a.setNodeTimeout(ctx, e)
	case cluster.Replicate:
		return "", classify(e.At.Pod, a.Servers.Replicate(ctx, target(e.At), e.Primary.ID))
	}
	return "", fmt.Errorf("unknown effect %s", effect)
}

func (a Cluster) apply(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild) error {
	for _, child := range spec.Children(c, e.Shard+1) {
		if e.Child.Kind != spec.KindOf(child) || e.Child.Name != child.GetName() {
			continue
		}
		if s, is := child.(*appsv1.StatefulSet); is {
			s.Spec.Replicas = ptr.To(int32(1 + e.Replicas)) //nolint:gosec // at most 6
		}
		return a.Children.Apply(ctx, child, types.UID(e.UID))
	}
	return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: the spec does not ask for it any more", e.Child)}
}

func (a Cluster) markFormed(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.MarkFormed) error {
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.Namespace, Name: spec.EndpointName(c),
		Annotations: map[string]string{valkeyv1.FormedAnnotation: "true"},
	}}
	return a.Marks.Apply(ctx, mark, types.UID(e.UID))
}
