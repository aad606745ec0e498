package act

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// mostReplicas is what the API allows.
const mostReplicas = 5

// changeClaim changes the claim of one volume.
func (a Cluster) changeClaim(ctx context.Context, c *valkeyv1.ValkeyCluster, effect fsm.Effect) (known bool, err error) {
	switch e := effect.(type) {
	case cluster.KeepClaim:
		return true, a.keepClaim(ctx, c, e)
	case cluster.DeleteClaim:
		return true, a.deleteClaim(ctx, c, e)
	case cluster.GrowClaim:
		return true, a.growClaim(ctx, c, e)
	}
	return false, nil
}

// releaseClaims notes on the claims of a shard's servers, from an ordinal on, that these are removed for good. It comes
// before they go: the proof is of what is seen in them now, and later no server is left to ask. If it were wrong, the data of a
// server would be lost, so it is done only with the proof that nothing but copies is in it.
func (a Cluster) releaseClaims(ctx context.Context, c *valkeyv1.ValkeyCluster, shard, from int) error {
	if !c.Spec.Persistence.Enabled {
		return nil
	}
	for ordinal := from; ordinal <= mostReplicas; ordinal++ {
		claim, err := a.claim(ctx, c, spec.ClaimName(c, shard, ordinal))
		if err != nil {
			return err
		}
		if claim == nil || claim.Annotations[valkeyv1.ReleasedAnnotation] != "" || claim.DeletionTimestamp != nil {
			continue
		}
		next := claim.DeepCopy()
		if next.Annotations == nil {
			next.Annotations = map[string]string{}
		}
		next.Annotations[valkeyv1.ReleasedAnnotation] = "true"
		if err := a.Children.Patch(ctx, claim, next); err != nil {
			return fmt.Errorf("release claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

// claim reads a claim of the cluster live; nil is that there is none.
func (a Cluster) claim(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) (*corev1.PersistentVolumeClaim, error) {
	var claim corev1.PersistentVolumeClaim
	switch err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &claim); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, kube.Classify(fmt.Errorf("read claim %s: %w", name, err))
	case claim.Labels[valkeyv1.ClusterLabel] != c.Name:
		return nil, nil
	}
	return &claim, nil
}

// keepClaim takes the release of a claim back.
func (a Cluster) keepClaim(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.KeepClaim) error {
	claim, err := a.claim(ctx, c, e.Name)
	if err != nil || claim == nil || string(claim.UID) != e.UID {
		return err
	}
	next := claim.DeepCopy()
	delete(next.Annotations, valkeyv1.ReleasedAnnotation)
	return a.Children.Patch(ctx, claim, next)
}

func (a Cluster) deleteClaim(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.DeleteClaim) error {
	claim, err := a.claim(ctx, c, e.Name)
	switch {
	case err != nil:
		return err
	case claim == nil || string(claim.UID) != e.UID:
		return nil
	case claim.Annotations[valkeyv1.ReleasedAnnotation] == "":
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("delete claim %s: it is not released any more", e.Name)}
	}
	var pod corev1.Pod
	switch err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: e.Pod}, &pod); {
	case err == nil:
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("delete claim %s: pod %s exists", e.Name, e.Pod)}
	case !read.SaysGone(err, e.Pod):
		return kube.Classify(fmt.Errorf("read pod %s: %w", e.Pod, err))
	}
	return a.Children.Delete(ctx, claim, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
}

// growClaim asks for a larger volume. Whether it can grow is for its storage class to say, and the API server refuses it otherwise.
func (a Cluster) growClaim(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.GrowClaim) error {
	claim, err := a.claim(ctx, c, e.Name)
	if err != nil || claim == nil || string(claim.UID) != e.UID {
		return err
	}
	next := claim.DeepCopy()
	next.Spec.Resources.Requests[corev1.ResourceStorage] = spec.VolumeSize(c)
	err = a.Children.Patch(ctx, claim, next)
	if apierrors.IsForbidden(err) && fsm.ReasonOf(err) == kube.ReasonRefused { // no quota, policy or webhook, and no right that lacks
		return &fsm.Error{Class: fsm.Refused, Err: err, Reason: kube.ReasonRefused, Say: cannotGrow(claim)}
	}
	return err
}

func cannotGrow(claim *corev1.PersistentVolumeClaim) string {
	const words = "The API server refuses to let the volume of claim %s grow, because StorageClass %q does not allow it: " +
		"set allowVolumeExpansion in the class if its driver can resize volumes, or move the data to a cluster of another class."
	return fmt.Sprintf(words, claim.Name, ptr.Deref(claim.Spec.StorageClassName, ""))
}
