package act

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// mostReplicas is what the API allows.
const mostReplicas = 5

// removeClaims lets go of the volumes of a shard that is removed for good. They go when
// their pods are gone; until then Kubernetes keeps them. It comes before the shard
// itself: without that nobody would know of them. If it were wrong, the data of a shard
// would be lost, so it is done only with the proof that nothing is in its servers.
func (a Cluster) removeClaims(ctx context.Context, c *valkeyv1.ValkeyCluster, shard int) error {
	if !c.Spec.Persistence.Enabled {
		return nil
	}
	for ordinal := range 1 + mostReplicas {
		var claim corev1.PersistentVolumeClaim
		key := read.Key{Namespace: c.Namespace, Name: spec.ClaimName(c, shard, ordinal)}
		if err := a.Live.Get(ctx, key, &claim); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("read claim %s: %w", key.Name, err)
		}
		if claim.Labels[valkeyv1.ClusterLabel] != c.Name || claim.DeletionTimestamp != nil {
			continue
		}
		if err := a.Children.Delete(ctx, &claim, kube.Seen{UID: claim.UID, ResourceVersion: claim.ResourceVersion}); err != nil {
			return fmt.Errorf("delete claim %s: %w", key.Name, err)
		}
	}
	return nil
}
