package act

import (
	"context"
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// VolumeCapture performs the effects of captures of volumes.
type VolumeCapture struct {
	Writer kube.Writer
	Live   read.Live
	// Namespace is where the holders of detached volumes are.
	Namespace string
	// Terms are for how long captures outlive their request, besides what that asks for.
	Terms request.Terms
}

var volumeCaptureKind = capturev1.GroupVersion.WithKind("VolumeCaptureRequest")

// Act performs one effect.
func (a VolumeCapture) Act(ctx context.Context, r *capturev1.VolumeCaptureRequest, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case volumecapture.CreateKeeper:
		terms := a.Terms
		terms.Retain = r.Spec.RetainAfterDeletion
		return createKeeper(ctx, a.Writer, request.NewKeeper(r, volumeCaptureKind, e.Namespace, terms))
	case volumecapture.CreateContent:
		content, err := volumecapture.NewContent(r, e)
		if err != nil {
			return "", err
		}
		return "", a.Writer.Create(ctx, content)
	case volumecapture.DeleteContent:
		content := &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: volumecapture.ContentName(r.UID)}}
		return "", a.Writer.Delete(ctx, content, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	case volumecapture.DeleteClaim:
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Spec.Target.Name}}
		return "", a.Writer.Delete(ctx, claim, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	}
	return "", a.detach(ctx, r, e)
}

func (a VolumeCapture) detach(ctx context.Context, r *capturev1.VolumeCaptureRequest, e fsm.Effect) error {
	switch e := e.(type) {
	case volumecapture.MarkVolume:
		return a.change(ctx, e.Volume, func(v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) { return volumecapture.Marked(v, e) })
	case volumecapture.UnmarkVolume:
		return a.change(ctx, e.Volume, func(v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
			return volumecapture.Unmarked(v, e.Policy), nil
		})
	case volumecapture.RestorePolicy:
		return a.change(ctx, e.Volume, func(v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimPolicy(e.Policy)
			return v, nil
		})
	case volumecapture.CreateHolder:
		v, err := a.volume(ctx, e.Volume)
		if err != nil {
			return err
		}
		return a.Writer.Create(ctx, volumecapture.NewHolder(r.UID, e.Keeper, a.Namespace, v))
	case volumecapture.BindVolume:
		return a.change(ctx, e.Volume, func(v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
			v.Spec.ClaimRef = &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: a.Namespace, Name: volumecapture.HolderName(r.UID), UID: e.Holder,
			}
			return v, nil
		})
	}
	return fmt.Errorf("unknown effect %s", e)
}

// change patches the very volume that was decided upon, in that version.
func (a VolumeCapture) change(ctx context.Context, seen volumecapture.Seen, change func(*corev1.PersistentVolume) (*corev1.PersistentVolume, error)) error {
	was, err := a.volume(ctx, seen)
	if err != nil {
		return err
	}
	next, err := change(was.DeepCopy())
	if err != nil {
		return err
	}
	return a.Writer.Patch(ctx, was, next)
}

func (a VolumeCapture) volume(ctx context.Context, seen volumecapture.Seen) (*corev1.PersistentVolume, error) {
	v := &corev1.PersistentVolume{}
	if err := a.Live.Get(ctx, read.Key{Name: seen.Name}, v); err != nil {
		return nil, kube.Classify(fmt.Errorf("read volume %s: %w", seen.Name, err))
	}
	if v.UID != seen.UID || v.ResourceVersion != seen.ResourceVersion {
		return nil, &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("volume %s was changed since", seen.Name)}
	}
	return v, nil
}
