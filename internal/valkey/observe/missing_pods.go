package observe

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// explainMissingPods says of pods that do not exist why their StatefulSet cannot create them. Only events tell, and they
// are read only where a pod lacks that a StatefulSet was told to make.
func (o Cluster) explainMissingPods(ctx context.Context, c *valkeyv1.ValkeyCluster, of record, nodes topology.Nodes) {
	var missing []int
	for i, n := range nodes {
		if n.UID == "" && !n.Stray && told(of.shards[spec.ShardName(c, n.Shard)], n.Ordinal) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return
	}
	var events corev1.EventList
	if o.Live.List(ctx, &events, read.InNamespace(c.Namespace), ofStatefulSets) != nil {
		return // these are words for people: a cluster that lacks a pod is looked after without them
	}
	for _, i := range missing {
		nodes[i].Trouble = diagnosis.OfMissing(c.Namespace, nodes[i].Name, events.Items, time.Now())
	}
}

// told says that a StatefulSet was told to make a pod, and knows it.
func told(s *appsv1.StatefulSet, ordinal int) bool {
	return s != nil && ordinal < int(ptr.Deref(s.Spec.Replicas, 1)) && s.Status.ObservedGeneration >= s.Generation
}

var ofStatefulSets = read.Fields{"involvedObject.kind": "StatefulSet"}
