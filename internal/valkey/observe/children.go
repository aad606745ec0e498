package observe

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// children compares what should exist with what does. That one does not is believed
// only from a live read: the cache may not show yet what we have just made.
func (o Cluster) children(ctx context.Context, c *valkeyv1.ValkeyCluster, w cluster.World) ([]cluster.Child, error) {
	wanted := o.Build.Children(c, max(len(w.Shape), len(cluster.Wanted(c))))
	children := make([]cluster.Child, 0, len(wanted))
	pods, err := podsOf(ctx, o.Cached, read.Key{Namespace: c.Namespace, Name: c.Name})
	if err != nil {
		return nil, err
	}
	shard := 0
	for _, want := range wanted {
		child, err := o.child(ctx, c, w, want)
		if err != nil {
			return nil, err
		}
		if child.Kind == cluster.KindStatefulSet {
			child.Shard = shard
			shard++
			if child.UID == "" {
				child.Remains = remains(pods, child.Shard)
			}
		}
		children = append(children, child)
	}
	return children, nil
}

func (o Cluster) child(ctx context.Context, c *valkeyv1.ValkeyCluster, w cluster.World, want spec.Object) (cluster.Child, error) {
	is := cluster.Child{Ref: cluster.Ref{Kind: spec.KindOf(want), Name: want.GetName()}}
	there := reflect.New(reflect.TypeOf(want).Elem()).Interface().(spec.Object)
	key := read.Key{Namespace: c.Namespace, Name: want.GetName()}
	err := o.Cached.Get(ctx, key, there)
	if apierrors.IsNotFound(err) {
		err = o.Live.Get(ctx, key, there)
	}
	if apierrors.IsNotFound(err) {
		return is, nil
	}
	if err != nil {
		return is, fmt.Errorf("read %s: %w", is.Ref, err)
	}
	if config, ok := there.(*corev1.ConfigMap); ok && w.KeepsSettings() {
		spec.KeepLive(want.(*corev1.ConfigMap), config)
	}
	is.UID, is.Version = string(there.GetUID()), there.GetResourceVersion()
	is.Foreign = !child.OwnedBy(there, c.UID)
	is.Unlabelled = there.GetLabels()[valkeyv1.ClusterLabel] != c.Name
	is.Settled = settled(there)
	if budget, ok := there.(*policyv1.PodDisruptionBudget); ok && spec.Closed(budget) {
		is.Template = cluster.Closed
	}
	if set, ok := there.(*appsv1.StatefulSet); ok {
		is.Template, is.Image, is.SpecImage = set.Annotations[valkeyv1.TemplateAnnotation], imageOf(set), set.Annotations[spec.ImageAnnotation]
	}
	if is.Foreign {
		return is, nil
	}
	state, err := o.Children.State(ctx, spec.Kept(want, there), there)
	is.Current, is.Edited, is.Contested = state.Stamped, state.Edited(), state.Contested()
	return is, err
}

// remains is a pod that bears a name which a StatefulSet that is to be made would give. One that nobody controls would be
// adopted.
func remains(pods []corev1.Pod, shard int) string {
	for i := range pods {
		p := &pods[i]
		if p.Labels[valkeyv1.ShardLabel] == strconv.Itoa(shard) && (p.DeletionTimestamp != nil || metav1.GetControllerOf(p) != nil) {
			return p.Name
		}
	}
	return ""
}

// imageOf is what the servers of a shard run by its template.
func imageOf(s *appsv1.StatefulSet) string {
	for _, c := range s.Spec.Template.Spec.Containers {
		if c.Name == spec.ServerContainer {
			return c.Image
		}
	}
	return ""
}

// settled says that the controller of a child has seen it as it is.
func settled(child spec.Object) bool {
	s, is := child.(*appsv1.StatefulSet)
	return !is || s.Status.ObservedGeneration >= s.Generation
}
