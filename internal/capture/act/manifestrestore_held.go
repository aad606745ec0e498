package act

import (
	"context"
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// held is where the volume of a claim is. A capture that is gone, with its namespace or without, may have left what it
// made: a namespace that was deleted comes back by that.
func (j *restoreJob) held(ctx context.Context, item manifestrestore.Item) (manifestrestore.Held, error) {
	if j.orphans {
		return j.retained(ctx, item)
	}
	from := j.spec.Origin.Namespace
	var c capturev1.VolumeCaptureRequest
	switch err := j.Live.Get(ctx, read.Key{Namespace: from, Name: item.Capture}, &c); {
	case read.SaysGone(err, item.Capture), err == nil && item.CaptureUID != "" && c.UID != item.CaptureUID:
		return j.retained(ctx, item)
	case err != nil:
		return manifestrestore.Held{}, fmt.Errorf("read VolumeCaptureRequest %s/%s: %w", from, item.Capture, err)
	}
	if from != j.request.Namespace {
		right := read.Right{Group: capturev1.GroupVersion.Group, Resource: "volumecapturerequests", Namespace: from, Name: item.Capture}
		if err := j.allowed(ctx, item, right); err != nil {
			return manifestrestore.Held{}, err
		}
	}
	if !apimeta.IsStatusConditionTrue(c.Status.Conditions, fsm.Ready) {
		return manifestrestore.Held{}, &refused{capturev1.ReasonSourceNotReady, j.captureOf(item) + ", which is to have the volume of claim " + item.Name + ", is not Ready."}
	}
	return manifestrestore.HeldBy(&c, j.request.Namespace), nil
}

func (j *restoreJob) captureOf(item manifestrestore.Item) string {
	return "VolumeCaptureRequest " + j.spec.Origin.Namespace + "/" + item.Capture
}

// allowed asks whether the requester may restore something. The manager asks for the volume on behalf of the requester,
// so it asks itself what admission would ask of the requester.
func (j *restoreJob) allowed(ctx context.Context, item manifestrestore.Item, right read.Right) error {
	right.Verb = "restore"
	access, err := j.May(ctx, j.request.Spec.Requester, right)
	switch {
	case err != nil:
		return fmt.Errorf("ask whether the requester may restore %s %s: %w", right.Resource, right.Name, err)
	case !access.Allowed:
		return &refused{capturev1.ReasonForbidden, "The volume of claim " + item.Name + " cannot be restored: " + access.Why + "."}
	}
	return nil
}

// retained finds what a capture that is gone has left. The checkpoint knows the capture by its UID: a snapshot is named
// after it, and a detached volume labelled with it.
func (j *restoreJob) retained(ctx context.Context, item manifestrestore.Item) (manifestrestore.Held, error) {
	found, err := j.snapshot(ctx, item)
	if err == nil && found == nil {
		found, err = j.detached(ctx, item)
	}
	if err != nil {
		return manifestrestore.Held{}, err
	}
	if found == nil {
		return manifestrestore.Held{}, &refused{capturev1.ReasonNotFound,
			j.captureOf(item) + ", which had the volume of claim " + item.Name + ", is gone, and what it captured was not retained."}
	}
	return *found, nil
}

// snapshot is the one that was retained; nil if there is none.
func (j *restoreJob) snapshot(ctx context.Context, item manifestrestore.Item) (*manifestrestore.Held, error) {
	var c snapshotv1.VolumeSnapshotContent
	name := volumecapture.ContentName(item.CaptureUID)
	err := j.Live.Get(ctx, read.Key{Name: name}, &c)
	switch s := c.Status; {
	case err != nil && read.Blindness(err) == presence.Unserved, err == nil && !item.IsOf(j.spec.Origin, volumecapture.OriginOf(&c)):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read VolumeSnapshotContent %s: %w", name, err)
	case c.DeletionTimestamp != nil, s == nil, s.ReadyToUse == nil, !*s.ReadyToUse:
		return nil, &refused{capturev1.ReasonSourceNotReady,
			"VolumeSnapshotContent " + name + ", which has the volume of claim " + item.Name + ", is not ready to use, or is being deleted."}
	}
	held := &manifestrestore.Held{In: capturev1.VolumeSource{VolumeSnapshotContent: &capturev1.NameRef{Name: name, UID: c.UID}}}
	if size := c.Status.RestoreSize; size != nil && *size > 0 {
		held.Takes = resource.NewQuantity(*size, resource.BinarySI)
	}
	return held, j.allowed(ctx, item, read.Right{Group: snapshotv1.GroupName, Resource: "volumesnapshotcontents", Name: name})
}

// detached is the volume that was retained itself; nil if there is none.
func (j *restoreJob) detached(ctx context.Context, item manifestrestore.Item) (*manifestrestore.Held, error) {
	var list corev1.PersistentVolumeList
	if err := j.Live.List(ctx, &list, client.MatchingLabels{capturev1.DetachedByLabel: string(item.CaptureUID)}); err != nil {
		return nil, fmt.Errorf("list volumes that were detached: %w", err)
	}
	for i := range list.Items {
		v := &list.Items[i]
		if !item.IsOf(j.spec.Origin, volumecapture.OriginOf(v)) {
			continue
		}
		held := &manifestrestore.Held{In: capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: v.Name, UID: v.UID}}}
		return held, j.allowed(ctx, item, read.Right{Resource: "persistentvolumes", Name: v.Name})
	}
	return nil, nil
}
