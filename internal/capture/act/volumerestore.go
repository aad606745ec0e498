package act

import (
	"context"
	"errors"
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
type VolumeRestore struct {
	Writer kube.Writer
	// As is the writer of the account that does for users what they ask for in a namespace.
	As func(namespace string) (kube.Writer, error)
}

var volumeRestoreKind = capturev1.GroupVersion.WithKind("VolumeRestoreRequest")

// Act performs one effect.
func (a VolumeRestore) Act(ctx context.Context, r *capturev1.VolumeRestoreRequest, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case volumerestore.CreateKeeper: // what it may own is worth nothing without the request
		return createKeeper(ctx, a.Writer, request.NewKeeper(r, volumeRestoreKind, e.Namespace, request.Terms{}))
	case volumerestore.CreateProbe:
		return a.createProbe(ctx, r, e)
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

// createProbe makes the Job as the account of the namespace: the manager itself could run anything anywhere.
func (a VolumeRestore) createProbe(ctx context.Context, r *capturev1.VolumeRestoreRequest, e volumerestore.CreateProbe) (string, error) {
	as, err := a.As(r.Namespace)
	if err != nil {
		return "", fmt.Errorf("act for namespace %s: %w", r.Namespace, err)
	}
	job := volumerestore.NewProbe(r, e.Keeper)
	err = as.Create(ctx, job)
	if refused := (*fsm.Error)(nil); errors.As(err, &refused) && refused.Reason == kube.ReasonNotPermitted {
		refused.Reason = capturev1.ReasonProbeRefused
		refused.Say = fmt.Sprintf("ServiceAccount %s of namespace %s may not create the Job of the rehearsal; bind it to "+
			"ClusterRole statecraft-capture-tenant-rehearsal there, and make another request.", Account, r.Namespace)
	}
	return string(job.UID), err
}
