package spec

import (
	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Builder builds the objects of clusters.
type Builder struct {
	// NodeImage holds statecraft-valkey-node, which is copied into every pod.
	NodeImage string
	// Other makes of a template what another version of the operator would; nil is this one. It is for tests.
	Other func(*corev1.PodTemplateSpec)
}

// Children is everything that a cluster of so many shards owns, in the order in which
// it is made: what pods need comes before the pods. How wide a StatefulSet is to be
// is for whoever applies it to say.
func (b Builder) Children(c *valkeyv1.ValkeyCluster, masters int) []Object {
	children := []Object{NodesService(c), EndpointService(c), ConfigMap(c), DisruptionBudget(c)}
	for _, obj := range children {
		stamp(obj)
	}
	for i := range masters {
		children = append(children, b.StatefulSet(c, i))
	}
	return children
}
