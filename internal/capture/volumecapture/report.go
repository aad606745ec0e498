package volumecapture

import (
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// report keeps what cannot be seen later: where the capture came from, how the volume was,
// why the request was given up; and in the end what was captured.
func report(out *capturev1.VolumeCaptureRequest, in input, _ fsm.Pass) {
	s := &out.Status
	if s.Phase != Pending && s.Origin == nil {
		s.Origin = origin(in)
	}
	if s.Phase != Pending && s.Detached == nil && in.Obj.Spec.Mode == capturev1.Detach {
		s.Detached = taken(in)
	}
	if s.Phase == CleaningUp && s.Failure == nil {
		s.Failure = request.FailureOf(&s.Progress, CleaningUp)
		s.Failure.Message = fsm.Cut(s.Failure.Message + leftBehind(in))
	}
	if s.Phase == Succeeded {
		s.ArtifactRef = artifact(in)
		if s.ArtifactRef.Kind == "VolumeSnapshotContent" {
			s.SnapshotHandle, s.RestoreSize = in.World.Content.Handle, size(in.World.Content)
		}
	}
	if Ended(out) {
		s.Failure = nil // the condition says it
		if s.CompletionTimestamp == nil {
			s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
		}
	}
}

// origin is where the capture comes from: as saved, as written on what was made, or as seen.
func origin(in input) *capturev1.Origin {
	w, uid := in.World, in.Obj.UID
	switch {
	case in.Obj.Status.Origin != nil:
		return in.Obj.Status.Origin
	case w.Content.Sight == presence.Here && w.Content.Origin != nil:
		return w.Content.Origin
	case w.Volume.Mark.By == uid && w.Volume.Mark.Origin != nil:
		return w.Volume.Mark.Origin
	case w.Claim.Sight != presence.Here || !w.Claim.Bound || w.Keeping.Namespace == "":
		return nil
	}
	return &capturev1.Origin{
		Namespace: in.Obj.Namespace, NamespaceUID: w.Keeping.Namespace, RequestUID: uid,
		Claim: in.Obj.Spec.Target.Name, ClaimUID: w.Claim.UID,
	}
}

// taken is the volume that is to be taken, as it was before.
func taken(in input) *capturev1.DetachedVolume {
	v := in.World.Volume
	switch {
	case v.Sight != presence.Here:
		return nil
	case v.Mark.By == in.Obj.UID:
		return &capturev1.DetachedVolume{Name: v.Name, UID: v.UID, ReclaimPolicy: v.Mark.Policy}
	case !in.World.Claim.Bound:
		return nil
	}
	return &capturev1.DetachedVolume{Name: v.Name, UID: v.UID, ReclaimPolicy: v.Policy}
}

func artifact(in input) *capturev1.ArtifactRef {
	if in.Obj.Spec.Mode == capturev1.Detach {
		v := in.World.Volume
		return &capturev1.ArtifactRef{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "PersistentVolume", Name: v.Name, UID: v.UID}
	}
	return &capturev1.ArtifactRef{
		APIVersion: snapshotv1.SchemeGroupVersion.String(), Kind: "VolumeSnapshotContent",
		Name: ContentName(in.Obj.UID), UID: in.World.Content.UID,
	}
}

func size(c Content) *resource.Quantity {
	if c.Size == nil {
		return nil
	}
	return resource.NewQuantity(*c.Size, resource.BinarySI)
}

// leftBehind says what a person must see to after a volume was taken from its claim.
func leftBehind(in input) string {
	v, d := in.World.Volume, in.Obj.Status.Detached
	if d == nil || v.Mark.By != in.Obj.UID || claimed(in) && !in.World.Claim.Deleting {
		return ""
	}
	return " PersistentVolume " + d.Name + " is left with reclaim policy Retain; before, it was " + d.ReclaimPolicy + "."
}
