package spec

import (
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Builder builds the objects of clusters.
type Builder struct {
	// NodeImage holds statecraft-valkey-node, which is copied into every pod.
	NodeImage string
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
