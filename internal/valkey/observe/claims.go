package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// claims are those of the cluster's volumes, also of servers that were removed.
func (o Cluster) claims(ctx context.Context, c *valkeyv1.ValkeyCluster) (claims []cluster.Claim, err error) {
	if !c.Spec.Persistence.Enabled {
		return nil, nil
	}
	var list corev1.PersistentVolumeClaimList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace), read.Fields{ByCluster: c.Name}); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	pods, err := podsOf(ctx, o.Cached, read.Key{Namespace: c.Namespace, Name: c.Name})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for i := range pods {
		there[pods[i].Name] = true
	}
	for i := range list.Items {
		p := &list.Items[i]
		shard, ordinal, ours := spec.ClaimPlace(c, p.Name)
		if !ours {
			continue
		}
		claims = append(claims, cluster.Claim{
			Name: p.Name, Shard: shard, Ordinal: ordinal, UID: string(p.UID), Version: p.ResourceVersion,
			Released: p.Annotations[valkeyv1.ReleasedAnnotation] != "", Leaving: p.DeletionTimestamp != nil,
			Used: there[spec.PodName(c, shard, ordinal)], Small: smaller(p, c), Resizing: resizing(p),
		})
	}
	return claims, nil
}

// smaller says that less was asked for than the spec asks for by now. A claim that is not bound yet cannot be changed.
func smaller(p *corev1.PersistentVolumeClaim, c *valkeyv1.ValkeyCluster) bool {
	is := p.Spec.Resources.Requests[corev1.ResourceStorage]
	return p.Status.Phase == corev1.ClaimBound && is.Cmp(spec.VolumeSize(c)) < 0
}

// resizing is why a volume is not yet as large as was asked for, in the words of the condition; "" is that it is.
func resizing(p *corev1.PersistentVolumeClaim) string {
	asked, has := p.Spec.Resources.Requests[corev1.ResourceStorage], p.Status.Capacity[corev1.ResourceStorage]
	if p.Status.Phase != corev1.ClaimBound || has.Cmp(asked) >= 0 {
		return ""
	}
	for _, c := range p.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			return string(c.Type)
		}
	}
	return "Resizing"
}
