package spec

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// EndpointName is the name of the Service that clients connect to, and of the
// ConfigMap and the PodDisruptionBudget.
func EndpointName(c *valkeyv1.ValkeyCluster) string { return c.Name }

// NodesName is the name of the headless Service that governs all pods.
func NodesName(c *valkeyv1.ValkeyCluster) string { return c.Name + "-nodes" }

// ShardName is the name of the StatefulSet of one shard.
func ShardName(c *valkeyv1.ValkeyCluster, shard int) string {
	return fmt.Sprintf("%s-%d", c.Name, shard)
}

// PodName is the name of one pod of a shard.
func PodName(c *valkeyv1.ValkeyCluster, shard, ordinal int) string {
	return fmt.Sprintf("%s-%d", ShardName(c, shard), ordinal)
}

// Labels select everything that belongs to a cluster.
func Labels(c *valkeyv1.ValkeyCluster) map[string]string {
	return map[string]string{valkeyv1.ClusterLabel: c.Name}
}

// shardLabels select the pods of one shard.
func shardLabels(c *valkeyv1.ValkeyCluster, shard int) map[string]string {
	return with(Labels(c), valkeyv1.ShardLabel, fmt.Sprint(shard))
}

// described adds what people and tools look for to labels that select.
func described(c *valkeyv1.ValkeyCluster, labels map[string]string) map[string]string {
	labels = with(labels, "app.kubernetes.io/name", "valkey")
	labels = with(labels, "app.kubernetes.io/instance", c.Name)
	return with(labels, "app.kubernetes.io/managed-by", "statecraft")
}

func with(labels map[string]string, key, value string) map[string]string {
	labels = maps.Clone(labels)
	labels[key] = value
	return labels
}

// Owner is the owner reference of everything that belongs to a cluster.
func Owner(c *valkeyv1.ValkeyCluster) []metav1.OwnerReference {
	return child.Controller(c, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))
}

// owned is the metadata of a child: garbage collection takes it with its cluster.
func owned(c *valkeyv1.ValkeyCluster, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       c.Namespace,
		Name:            name,
		Labels:          described(c, labels),
		OwnerReferences: Owner(c),
	}
}
