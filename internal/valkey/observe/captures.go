package observe

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// captures looks for what spec.captureFirst asks for, while it is of interest. They are read
// live: they are few, and their kind need not exist.
func (o Upgrade) captures(ctx context.Context, c *valkeyv1.ValkeyCluster, u *valkeyv1.ValkeyUpgrade, nodes topology.Nodes) (found upgrade.Captures, err error) {
	before := u.Status.Phase == "" || u.Status.Phase == upgrade.Pending || u.Status.Phase == upgrade.PreChecks
	if !u.Spec.CaptureFirst || !before {
		return found, nil
	}
	if !c.Spec.Persistence.Enabled {
		found.Impossible = "spec.captureFirst is set, but ValkeyCluster " + c.Name + " has no volumes to capture; create the upgrade without it."
		return found, nil
	}
	for _, n := range primaries(nodes) {
		of := upgrade.Capture{Shard: n.Shard, Name: upgrade.CaptureName(u, n.Shard), Claim: spec.ClaimName(c, n.Shard, n.Ordinal)}
		var r capturev1.VolumeCaptureRequest
		switch err := o.Live.Get(ctx, read.Key{Namespace: u.Namespace, Name: of.Name}, &r); {
		case read.SaysGone(err, of.Name):
			of.State = upgrade.NotCaptured
		case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
			found.Impossible = "spec.captureFirst is set, but VolumeCaptureRequest is not installed; install area capture, or create the upgrade without it."
			return found, nil
		case err != nil:
			return found, fmt.Errorf("read capture: %w", err)
		default:
			of.State, of.Words = captureState(&r, u)
		}
		found.Of = append(found.Of, of)
	}
	return found, nil
}

// primaries are the nodes that own the slots of their shards.
func primaries(nodes topology.Nodes) (owners topology.Nodes) {
	for _, n := range nodes {
		if owner, owned := nodes.Shard(n.Shard).Owner(); owned && owner.Name == n.Name {
			owners = append(owners, n)
		}
	}
	return owners
}

// captureState says how far a capture is, and why it failed.
func captureState(r *capturev1.VolumeCaptureRequest, u *valkeyv1.ValkeyUpgrade) (upgrade.CaptureState, string) {
	if r.Annotations[valkeyv1.CaptureAnnotation] != string(u.UID) {
		return upgrade.CaptureEnded, "it exists, and was not made by this upgrade; delete it, and make another upgrade"
	}
	ready := apimeta.FindStatusCondition(r.Status.Conditions, "Ready")
	switch {
	case ready == nil:
		return upgrade.BeingCaptured, r.Status.WaitingFor
	case ready.Status == metav1.ConditionTrue:
		return upgrade.Captured, ""
	}
	return upgrade.CaptureEnded, strings.TrimRight(ready.Message, ".") + " (" + ready.Reason + ")"
}
