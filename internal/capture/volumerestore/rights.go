package volumerestore

import (
	"cmp"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// Needs are the rights that a restore needs of its requester. Whoever may make requests in a namespace
// may restore what was captured there; all else is somebody else's.
func Needs(r *capturev1.VolumeRestoreRequest) (needs []request.Need) {
	if right, needed := sourceRight(r); needed {
		right.Verb = "restore"
		needs = append(needs, request.Need{What: "The source is not of this namespace", Right: right})
	}
	if r.Spec.Rehearsal != nil {
		needs = append(needs, request.Need{What: "A rehearsal runs a Job", Right: authorizationv1.ResourceAttributes{
			Verb: "create", Group: "batch", Resource: "jobs", Namespace: r.Namespace,
		}})
	}
	return needs
}

func sourceRight(r *capturev1.VolumeRestoreRequest) (right authorizationv1.ResourceAttributes, needed bool) {
	switch from := r.Spec.Source; {
	case from.VolumeCaptureRequest != nil:
		ref := from.VolumeCaptureRequest
		right = authorizationv1.ResourceAttributes{
			Group: capturev1.GroupName, Resource: "volumecapturerequests", Namespace: cmp.Or(ref.Namespace, r.Namespace), Name: ref.Name,
		}
		return right, right.Namespace != r.Namespace
	case from.VolumeSnapshotContent != nil:
		return authorizationv1.ResourceAttributes{
			Group: snapshotv1.GroupName, Resource: "volumesnapshotcontents", Name: from.VolumeSnapshotContent.Name,
		}, true
	case from.PersistentVolume != nil:
		return authorizationv1.ResourceAttributes{Resource: "persistentvolumes", Name: from.PersistentVolume.Name}, true
	}
	return right, false
}

// unpermitted is what speaks against the requester.
func unpermitted(in input) verdict {
	why, message, _ := in.World.Rights.Refusal()
	return verdict{why, message}
}

// isEarly says that nobody checked who made the request. A guard refuses it in every phase: whoever forges a request
// can forge its status, too.
func isEarly(in input) bool { return in.World.Rights.IsEarly() }

func saysEarly(in input) string {
	_, message, _ := in.World.Rights.Refusal()
	return message
}

func unproven(in input) (string, bool) { return in.World.Rights.Unsettled() }
