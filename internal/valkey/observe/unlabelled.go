package observe

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// Caches hold what has the label of a cluster, and anybody can remove a label. A formed cluster that took its shard or
// its primary for gone could lose data, so what the caches lack of one is read live, by name. That is rare, except
// while pods are made.

// readAtATime is how many live reads one look makes at a time.
const readAtATime = 16

// unlabelledShards adds the StatefulSets that the cache lacks and that exist.
func (o Cluster) unlabelledShards(ctx context.Context, c *valkeyv1.ValkeyCluster, shards map[string]*appsv1.StatefulSet) error {
	for i := range max(len(cluster.Wanted(c)), int(c.Status.Masters)) {
		name := spec.ShardName(c, i)
		if shards[name] != nil {
			continue
		}
		var s appsv1.StatefulSet
		err := o.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &s)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read StatefulSet %s: %w", name, err)
		case child.OwnedBy(&s, c.UID):
			shards[name] = &s
		}
	}
	return nil
}

// unlabelledPods are the pods of a formed cluster that the cache lacks and that exist, by name.
func (o Cluster) unlabelledPods(ctx context.Context, c *valkeyv1.ValkeyCluster, of record, cached map[string]*corev1.Pod) (map[string]*corev1.Pod, error) {
	if !of.formed {
		return nil, nil
	}
	var missing []string
	for i, replicas := range of.shape {
		for j := range 1 + replicas {
			if name := spec.PodName(c, i, j); cached[name] == nil {
				missing = append(missing, name)
			}
		}
	}
	found := make([]*corev1.Pod, len(missing))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtATime)
	for i, name := range missing {
		g.Go(func() error {
			var p corev1.Pod
			err := o.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &p)
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil:
				return fmt.Errorf("read pod %s: %w", name, err)
			}
			found[i] = &p
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	pods := map[string]*corev1.Pod{}
	for i, p := range found {
		if p != nil {
			pods[missing[i]] = p
		}
	}
	return pods, nil
}
