package act

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// VolumeRestore performs the effects of restores of volumes.
type VolumeRestore struct{ Writer kube.Writer }

var volumeRestoreKind = capturev1.GroupVersion.WithKind("VolumeRestoreRequest")

// Act performs one effect.
func (a VolumeRestore) Act(ctx context.Context, r *capturev1.VolumeRestoreRequest, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case volumerestore.CreateKeeper: // what it may own is worth nothing without the request
		return createKeeper(ctx, a.Writer, request.NewKeeper(r, volumeRestoreKind, e.Namespace, request.Terms{}))
	case volumerestore.CreateProbe:
		job := volumerestore.NewProbe(r, e.Keeper)
		return string(job.UID), a.Writer.Create(ctx, job)
	case volumerestore.DeleteProbe:
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: volumerestore.ProbeName(r.UID)}}
		return "", a.Writer.Delete(ctx, job, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	case volumerestore.DeleteClaim:
		// If it were wrong, restored data would be lost: so only this very claim goes, in the
		// version in which it was bound to nothing.
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Spec.VolumeClaimTemplate.Name}}
		return "", a.Writer.Delete(ctx, claim, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	}
	return "", fmt.Errorf("unknown effect %s", e)
}
