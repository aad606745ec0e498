package edge

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Caches are what the area reads through its cache. Of pods and Nodes of others, which are most, it keeps only what tells
// that they are; labels would not do, because anybody may remove them.
func Caches() []kube.Cached {
	return []kube.Cached{
		{Of: &edgev1.EdgePool{}},
		{Of: &corev1.Node{}, Strip: stripNode},
		{Of: &corev1.Pod{}, Strip: stripPod},
	}
}

// bare is what is kept of an object of others.
func bare(o metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}
}

func stripNode(obj client.Object) {
	if n, is := obj.(*corev1.Node); is {
		if _, ours := node.IDOf(n); !ours {
			*n = corev1.Node{ObjectMeta: bare(n.ObjectMeta), Spec: corev1.NodeSpec{ProviderID: n.Spec.ProviderID}}
		}
	}
}

func stripPod(obj client.Object) {
	if p, is := obj.(*corev1.Pod); is && !onDevice(p) {
		*p = corev1.Pod{ObjectMeta: bare(p.ObjectMeta), Spec: corev1.PodSpec{NodeName: p.Spec.NodeName}}
	}
}

// onDevice says that the name of a pod's Node is one that a Node of a device may have.
func onDevice(p *corev1.Pod) bool { return strings.HasPrefix(p.Spec.NodeName, node.NamePrefix) }

// Indexes are those by which wakes and observers find Nodes and pods.
func Indexes() []kube.Index {
	return []kube.Index{
		{Of: &corev1.Node{}, Name: observe.ByPool, Values: func(obj client.Object) []string {
			if n, is := obj.(*corev1.Node); is {
				if id, ours := node.IDOf(n); ours {
					return []string{id.Pool}
				}
			}
			return nil
		}},
		{Of: &corev1.Pod{}, Name: observe.ByNode, Values: func(obj client.Object) []string {
			if p, is := obj.(*corev1.Pod); is && onDevice(p) {
				return []string{p.Spec.NodeName}
			}
			return nil
		}},
	}
}

// PoolWakes are those of pools; sweeps tells of sweeps that have changed.
func PoolWakes(sweeps *kube.Waker) []kube.Wake {
	return []kube.Wake{
		{Name: "sweep", Waker: sweeps},
		{Name: "nodes", Of: &corev1.Node{}, Find: func(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
			if n, is := obj.(*corev1.Node); is {
				if id, ours := node.IDOf(n); ours {
					return []read.Key{{Name: id.Pool}}
				}
			}
			return nil
		}},
	}
}

// PodWakes are those of pods; devices tells of devices that have changed. Whose a pod is its Node says, which may be seen after it.
func PodWakes(devices *kube.Waker) []kube.Wake {
	return []kube.Wake{
		{Name: "device", Waker: devices},
		{Name: "device", Of: &corev1.Node{}, Find: func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
			if n, is := obj.(*corev1.Node); is {
				if _, ours := node.IDOf(n); ours {
					return podsOn(ctx, cached, n.Name)
				}
			}
			return nil
		}},
	}
}

// podsOn are the pods that are bound to a Node of a device.
func podsOn(ctx context.Context, cached read.Reader, name string) (keys []read.Key) {
	var list corev1.PodList
	if err := cached.List(ctx, &list, read.Fields{observe.ByNode: name}); err != nil {
		return nil // it was asked for an index that does not exist, which a test refuses
	}
	for i := range list.Items {
		keys = append(keys, read.Key{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name})
	}
	return keys
}
