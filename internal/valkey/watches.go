package valkey

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

var clusterKind = schema.GroupKind{Group: valkeyv1.GroupVersion.Group, Kind: "ValkeyCluster"}

// ClusterWakes are what wakes a cluster: waker is that of its sampler and workers.
func ClusterWakes(waker *kube.Waker) []kube.Wake {
	owner := valkeyv1.GroupVersion.WithKind("ValkeyCluster")
	return []kube.Wake{
		kube.Child(&corev1.Service{}, owner), kube.Child(&corev1.ConfigMap{}, owner),
		kube.Child(&policyv1.PodDisruptionBudget{}, owner), kube.Child(&appsv1.StatefulSet{}, owner),
		{Name: "children", Of: &corev1.PersistentVolumeClaim{}, Find: clusterOf},
		{Name: "pods", Of: &corev1.Pod{}, Find: clusterOf},
		{Name: "upgrades", Of: &valkeyv1.ValkeyUpgrade{}, Find: upgraded},
		{Name: "valkey", Waker: waker},
		{Name: "work", Waker: waker},
		kube.Reserved(func(_ context.Context, _ read.Reader, target reserve.Ref) []read.Key {
			if !target.Is(clusterKind) {
				return nil
			}
			return []read.Key{{Namespace: target.Namespace, Name: target.Name}}
		}),
		turns(),
	}
}

// turns wakes clusters that wait for their turn to be restarted, when a place changes hands. Those that waited for the
// longest suffice: whoever gets the place wakes the next when it gives that back.
func turns() kube.Wake {
	w := kube.Reserved(func(ctx context.Context, cached read.Reader, target reserve.Ref) []read.Key {
		if !cluster.IsPlace(target) {
			return nil
		}
		var list valkeyv1.ValkeyClusterList
		if err := cached.List(ctx, &list, client.MatchingFields{awaitingTurn: "true"}); err != nil {
			return nil // the cache has ended; what is not woken looks by itself in a moment
		}
		return longestWaiting(list.Items)
	})
	w.Name = cluster.TurnWake.Name
	return w
}

// mostWoken is how many clusters try for one place.
const mostWoken = 4

func longestWaiting(clusters []valkeyv1.ValkeyCluster) (keys []read.Key) {
	slices.SortFunc(clusters, func(a, b valkeyv1.ValkeyCluster) int {
		return cmp.Or(cluster.WaitsSince(&a).Compare(cluster.WaitsSince(&b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range min(len(clusters), mostWoken) {
		keys = append(keys, client.ObjectKeyFromObject(&clusters[i]))
	}
	return keys
}

// UpgradeWakes are what wakes an upgrade.
func UpgradeWakes() []kube.Wake {
	return []kube.Wake{
		{Name: "cluster", Of: &valkeyv1.ValkeyCluster{}, Find: func(ctx context.Context, cached read.Reader, c client.Object) []read.Key {
			return upgradesOf(ctx, cached, c.GetNamespace(), c.GetName())
		}},
		{Name: "children", Of: &appsv1.StatefulSet{}, Find: upgradesOfPart},
		{Name: "pods", Of: &corev1.Pod{}, Find: upgradesOfPart},
		kube.Reserved(func(ctx context.Context, cached read.Reader, target reserve.Ref) []read.Key {
			if !target.Is(clusterKind) {
				return nil
			}
			return upgradesOf(ctx, cached, target.Namespace, target.Name)
		}),
	}
}

// clusterOf is the cluster whose name a pod or a claim bears. Whether it is really its own is for
// the observer to find out.
func clusterOf(_ context.Context, _ read.Reader, pod client.Object) []read.Key {
	name := pod.GetLabels()[valkeyv1.ClusterLabel]
	if name == "" {
		return nil
	}
	return []read.Key{{Namespace: pod.GetNamespace(), Name: name}}
}

// upgraded is the cluster that an upgrade is of: it may ask for something.
func upgraded(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
	u, is := obj.(*valkeyv1.ValkeyUpgrade)
	if !is {
		return nil
	}
	return []read.Key{{Namespace: u.Namespace, Name: u.Spec.ClusterRef.Name}}
}

// ofCluster is the index of upgrades that have not ended by the name of their cluster.
const ofCluster = "ofCluster"

// awaitingTurn is the index of clusters whose restart waits for that of another.
const awaitingTurn = "awaitingTurn"

// Indexes are those of the area's kinds.
func Indexes() []kube.Index {
	return []kube.Index{
		{Of: &valkeyv1.ValkeyCluster{}, Name: awaitingTurn, Values: waitsForTurn},
		{Of: &valkeyv1.ValkeyUpgrade{}, Name: ofCluster, Values: clusterToUpgrade},
		{Of: &valkeyv1.ValkeyUpgrade{}, Name: observe.ByOwner, Values: ownerOf},
		{Of: &corev1.Pod{}, Name: observe.ByCluster, Values: labelledCluster},
		{Of: &appsv1.StatefulSet{}, Name: observe.ByCluster, Values: labelledCluster},
		{Of: &corev1.PersistentVolumeClaim{}, Name: observe.ByCluster, Values: labelledCluster},
	}
}

func waitsForTurn(obj client.Object) []string {
	if cluster.WaitsSince(obj.(*valkeyv1.ValkeyCluster)).IsZero() {
		return nil
	}
	return []string{"true"}
}

func clusterToUpgrade(obj client.Object) []string {
	u := obj.(*valkeyv1.ValkeyUpgrade)
	if upgrade.Ended(u.Status.Phase) {
		return nil
	}
	return []string{u.Spec.ClusterRef.Name}
}

func ownerOf(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

func labelledCluster(obj client.Object) []string {
	if name := obj.GetLabels()[valkeyv1.ClusterLabel]; name != "" {
		return []string{name}
	}
	return nil
}

// upgradesOfPart are the upgrades of the cluster whose name a pod or a StatefulSet bears.
func upgradesOfPart(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
	name := obj.GetLabels()[valkeyv1.ClusterLabel]
	if name == "" {
		return nil
	}
	return upgradesOf(ctx, cached, obj.GetNamespace(), name)
}

// upgradesOf are the upgrades of a cluster that have not ended.
func upgradesOf(ctx context.Context, cached read.Reader, namespace, cluster string) (keys []read.Key) {
	var list valkeyv1.ValkeyUpgradeList
	if err := cached.List(ctx, &list, read.InNamespace(namespace), client.MatchingFields{ofCluster: cluster}); err != nil {
		return nil // the cache has ended; what is not woken looks by itself in a moment
	}
	for i := range list.Items {
		keys = append(keys, read.Key{Namespace: namespace, Name: list.Items[i].Name})
	}
	return keys
}
