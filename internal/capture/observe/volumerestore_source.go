package observe

import (
	"context"
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// source reads, live, what the request names.
func (o VolumeRestore) source(ctx context.Context, r *capturev1.VolumeRestoreRequest) (s volumerestore.Source, err error) {
	switch from := r.Spec.Source; {
	case from.VolumeCaptureRequest != nil:
		s, err = o.capture(ctx, r, *from.VolumeCaptureRequest)
	case from.VolumeSnapshotContent != nil:
		s, err = o.content(ctx, named("VolumeSnapshotContent", from.VolumeSnapshotContent))
	case from.PersistentVolume != nil:
		s, err = o.detached(ctx, r, named("PersistentVolume", from.PersistentVolume))
	}
	if err == nil && s.Sight == volumerestore.Ready && s.Resolved.Volume == nil {
		s.Class, err = o.class(ctx, r.Spec.VolumeClaimTemplate.Spec.StorageClassName)
	}
	return s, err
}

// capture reads a capture and what it made. Names are used again, so both are held by UID:
// the namespace to the one that was captured from, the artifact to the one that was made.
func (o VolumeRestore) capture(ctx context.Context, r *capturev1.VolumeRestoreRequest, ref capturev1.RequestRef) (volumerestore.Source, error) {
	if ref.Namespace == "" {
		ref.Namespace = r.Namespace
	}
	var c capturev1.VolumeCaptureRequest
	s := volumerestore.Source{What: "VolumeCaptureRequest " + ref.Namespace + "/" + ref.Name}
	switch err := o.Live.Get(ctx, read.Key{Namespace: ref.Namespace, Name: ref.Name}, &c); {
	case read.SaysGone(err, ref.Name), err == nil && ref.UID != "" && ref.UID != c.UID:
		s.Sight = volumerestore.Missing
		return s, nil
	case err != nil:
		return s, fmt.Errorf("read capture %s: %w", ref.Name, err)
	}
	switch ready := apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready); {
	case ready == nil:
		s.Sight = volumerestore.Unfinished
		return s, nil
	case ready.Status != metav1.ConditionTrue || c.Status.ArtifactRef == nil:
		s.Sight, s.Why = volumerestore.NotReady, "failed: "+ready.Reason
		return s, nil
	}
	native, err := o.native(ctx, &c)
	if err != nil || !native {
		s.Sight, s.Why = volumerestore.Foreign, "was made in another namespace of that name"
		return s, err
	}
	made := artifact{c.Status.ArtifactRef.Name, c.Status.ArtifactRef.UID, c.UID, s.What}
	if c.Status.ArtifactRef.Kind == "PersistentVolume" {
		return o.detached(ctx, r, made)
	}
	return o.content(ctx, made)
}

// artifact is what a request names, or what a capture says that it made.
type artifact struct {
	Name string
	UID  types.UID // "" is not known
	By   types.UID // the capture; "" is that it is named itself
	What string    // for a person
}

func named(kind string, ref *capturev1.NameRef) artifact {
	return artifact{Name: ref.Name, UID: ref.UID, What: kind + " " + ref.Name}
}

// replaced says that another has its name.
func (a artifact) replaced(is types.UID) bool { return a.UID != "" && is != a.UID }

// byAnother says that it was made by another than the one who says so; "" is that it does not say.
func (a artifact) byAnother(by types.UID) bool { return a.By != "" && by != "" && by != a.By }

// foreign is that of an artifact that was made by another than the one who says so.
func (a artifact) foreign() volumerestore.Source {
	return volumerestore.Source{Sight: volumerestore.Foreign, What: a.What, Why: "names what another request has made"}
}

// native says that a capture comes from the namespace that it is in, and not from one that
// had its name before.
func (o VolumeRestore) native(ctx context.Context, c *capturev1.VolumeCaptureRequest) (bool, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err := o.Live.Get(ctx, read.Key{Name: c.Namespace}, ns); err != nil {
		return false, fmt.Errorf("read namespace %s: %w", c.Namespace, err)
	}
	from := c.Status.Origin
	return from != nil && from.NamespaceUID == ns.UID && (from.RequestUID == "" || from.RequestUID == c.UID), nil
}

// content reads a snapshot.
func (o VolumeRestore) content(ctx context.Context, ref artifact) (volumerestore.Source, error) {
	var c snapshotv1.VolumeSnapshotContent
	s := volumerestore.Source{What: ref.What}
	err := o.Live.Get(ctx, read.Key{Name: ref.Name}, &c)
	switch {
	case read.SaysGone(err, ref.Name), err == nil && ref.replaced(c.UID):
		s.Sight, s.What = volumerestore.Missing, "VolumeSnapshotContent "+ref.Name
		return s, nil
	case err != nil:
		return unreadContent(s, err)
	case ref.By != "" && ref.By != c.Spec.VolumeSnapshotRef.UID: // the status of a capture can name any
		return ref.foreign(), nil
	case c.DeletionTimestamp != nil:
		s.Sight, s.Why = volumerestore.NotReady, "is being deleted"
		return s, nil
	case !usable(c.Status):
		s.Sight = volumerestore.Unfinished
		return s, nil
	}
	s.Sight = volumerestore.Ready
	s.Resolved = &capturev1.ResolvedSource{Driver: c.Spec.Driver, SnapshotHandle: *c.Status.SnapshotHandle}
	if size := c.Status.RestoreSize; size != nil && *size > 0 {
		s.Resolved.RestoreSize = resource.NewQuantity(*size, resource.BinarySI)
	}
	if c.Spec.SourceVolumeMode != nil {
		s.Mode = *c.Spec.SourceVolumeMode
	}
	return s, nil
}

// unreadContent tells a kind that is not served, or not for us, from what may be read the next time.
func unreadContent(s volumerestore.Source, err error) (volumerestore.Source, error) {
	switch read.Blindness(err) {
	case presence.Unserved:
		s.Sight = volumerestore.Unfinished
		s.What += ", whose kind the API server does not serve (install the CRDs of external-snapshotter),"
	case presence.Forbidden:
		s.Sight, s.Why = volumerestore.Foreign, "cannot be read by the manager; grant it the ClusterRole of area capture, and make another request"
	default:
		return s, fmt.Errorf("read content: %w", err)
	}
	return s, nil
}

func usable(s *snapshotv1.VolumeSnapshotContentStatus) bool {
	return s != nil && s.ReadyToUse != nil && *s.ReadyToUse && s.SnapshotHandle != nil
}

// detached reads a detached volume, and who has it now.
func (o VolumeRestore) detached(ctx context.Context, r *capturev1.VolumeRestoreRequest, ref artifact) (volumerestore.Source, error) {
	var v corev1.PersistentVolume
	s := volumerestore.Source{What: ref.What}
	err := o.Live.Get(ctx, read.Key{Name: ref.Name}, &v)
	by, moved := v.Spec.ClaimRef, v.Annotations[capturev1.RestoreAnnotation]
	mark := volumecapture.MarkOf(&v) // it goes when the volume was moved
	switch {
	case read.SaysGone(err, ref.Name), err == nil && ref.replaced(v.UID):
		s.Sight, s.What = volumerestore.Missing, "PersistentVolume "+ref.Name
		return s, nil
	case err != nil:
		return s, fmt.Errorf("read volume %s: %w", ref.Name, err)
	case v.Spec.CSI == nil, mark.By == "" && moved == "":
		s.Sight, s.Why = volumerestore.Unfit, "is not a volume of a CSI driver that was detached"
		return s, nil
	case ref.byAnother(mark.By):
		return ref.foreign(), nil
	case reclaimed(&v):
		s.Sight, s.What, s.Why = volumerestore.NotReady, "PersistentVolume "+ref.Name, "is being reclaimed"
		return s, nil
	case by == nil || by.UID == "":
		s.Sight = volumerestore.Unfinished // nobody holds it yet
		return s, nil
	}
	if free, err := o.free(ctx, r, &v); err != nil || !free {
		s.Sight, s.Why = volumerestore.Consumed, "it belongs to PersistentVolumeClaim "+by.Namespace+"/"+by.Name
		return s, err
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	s.Sight, s.Capacity, s.Mode = volumerestore.Ready, &size, ptr.Deref(v.Spec.VolumeMode, "")
	s.Resolved = &capturev1.ResolvedSource{
		Driver: v.Spec.CSI.Driver, Volume: &capturev1.DetachedSource{Name: v.Name, UID: v.UID, HolderUID: by.UID},
	}
	return s, nil
}

// reclaimed says that a volume is on its way out: somebody deleted it, or its holder is gone and
// it is not kept. Its driver may be deleting the data, whoever binds it.
func reclaimed(v *corev1.PersistentVolume) bool {
	released := v.Status.Phase == corev1.VolumeReleased || v.Status.Phase == corev1.VolumeFailed
	return v.DeletionTimestamp != nil || released && v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain
}

// free says that a volume is held for whoever restores it, or was moved by this request, or that it
// bears the mark of a capture and belongs to a claim that is gone: the capture failed after it had
// deleted the claim, or who moved the volume did not come to its end.
func (o VolumeRestore) free(ctx context.Context, r *capturev1.VolumeRestoreRequest, v *corev1.PersistentVolume) (bool, error) {
	mark, by := volumecapture.MarkOf(v), v.Spec.ClaimRef
	switch {
	case held(by, o.Namespace, volumecapture.HolderName(mark.By)), v.Annotations[capturev1.RestoreAnnotation] == string(r.UID):
		return true, nil
	case mark.By == "":
		return false, nil
	}
	var claim corev1.PersistentVolumeClaim
	switch err := o.Live.Get(ctx, read.Key{Namespace: by.Namespace, Name: by.Name}, &claim); {
	case read.SaysGone(err, by.Name):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read claim %s/%s: %w", by.Namespace, by.Name, err)
	}
	return claim.UID != by.UID, nil
}

func held(by *corev1.ObjectReference, namespace, name string) bool {
	return by.Namespace == namespace && by.Name == name
}
