package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// The indexes of the area.
const (
	ByPool = "pool"     // Nodes of devices, by the pool of their providerID
	ByNode = "nodeName" // pods that are bound to a Node of a device
)

// Site is the device that a pod is bound to, by the providerID of its Node, and the pool of that device.
type Site struct {
	ID   node.ID
	Pool *edgev1.EdgePool
	// Others are the pods of the device, the one that asks included.
	Others []*pod.Pod
}

// Sites finds where pods belong, by the cache.
type Sites struct {
	Cached  read.Reader
	Cluster entry.Cluster
}

// Device says which device a Node stands for; false is that it is none of this cluster.
func (s Sites) Device(ctx context.Context, nodeName string) (id node.ID, is bool, err error) {
	var n corev1.Node
	err = s.Cached.Get(ctx, read.Key{Name: nodeName}, &n)
	if apierrors.IsNotFound(err) {
		return id, false, nil
	}
	if err != nil {
		return id, false, fmt.Errorf("read Node %s: %w", nodeName, err)
	}
	id, is = node.IDOf(&n)
	return id, is && id.Cluster == s.Cluster, nil
}

// Of finds the site of a pod; false is that its Node, or the pool of that, is not there.
func (s Sites) Of(ctx context.Context, p *pod.Pod) (site Site, is bool, err error) {
	if site.ID, is, err = s.Device(ctx, p.Spec.NodeName); err != nil || !is {
		return site, false, err
	}
	site.Pool = &edgev1.EdgePool{}
	err = s.Cached.Get(ctx, read.Key{Name: site.ID.Pool}, site.Pool)
	if apierrors.IsNotFound(err) {
		return site, false, nil
	}
	if err != nil {
		return site, false, fmt.Errorf("read pool %s: %w", site.ID.Pool, err)
	}
	site.Others, err = s.pods(ctx, p.Spec.NodeName)
	return site, err == nil, err
}

// pods are those of a Node.
func (s Sites) pods(ctx context.Context, nodeName string) (all []*pod.Pod, err error) {
	var list corev1.PodList
	if err := s.Cached.List(ctx, &list, read.Fields{ByNode: nodeName}); err != nil {
		return nil, fmt.Errorf("list pods of Node %s: %w", nodeName, err)
	}
	for i := range list.Items {
		all = append(all, pod.Of(&list.Items[i]))
	}
	return all, nil
}
