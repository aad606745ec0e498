package valkey

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// clusterOf wakes the cluster whose name a pod bears. Whether the pod is really its
// own is for the observer to find out.
func clusterOf(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[valkeyv1.ClusterLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: pod.GetNamespace(), Name: name}}}
}

// upgraded wakes the cluster that an upgrade is of: it may ask for something.
func upgraded(_ context.Context, obj client.Object) []reconcile.Request {
	u, is := obj.(*valkeyv1.ValkeyUpgrade)
	if !is {
		return nil
	}
	return []reconcile.Request{{NamespacedName: read.Key{Namespace: u.Namespace, Name: u.Spec.ClusterRef.Name}}}
}

// upgradesOf wakes the upgrades that have not ended of the cluster that something belongs to.
func upgradesOf(a *kube.Area) func(context.Context, client.Object) []reconcile.Request {
	cached := a.Env.Cached()
	return func(ctx context.Context, obj client.Object) (woken []reconcile.Request) {
		name := obj.GetLabels()[valkeyv1.ClusterLabel]
		if c, is := obj.(*valkeyv1.ValkeyCluster); is {
			name = c.Name
		}
		var list valkeyv1.ValkeyUpgradeList
		if name == "" || cached.List(ctx, &list, read.InNamespace(obj.GetNamespace())) != nil {
			return nil // who is not woken looks by itself in a moment
		}
		for _, u := range list.Items {
			if u.Spec.ClusterRef.Name == name && !upgrade.Ended(u.Status.Phase) {
				woken = append(woken, reconcile.Request{NamespacedName: read.Key{Namespace: u.Namespace, Name: u.Name}})
			}
		}
		return woken
	}
}
