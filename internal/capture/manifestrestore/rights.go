package manifestrestore

import (
	"cmp"

	authorizationv1 "k8s.io/api/authorization/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Needs are the rights that a restore needs of its requester, as far as the request tells. Whoever may make requests in
// a namespace may restore what was captured there; all else is somebody else's.
func Needs(r *capturev1.ManifestRestoreRequest) []request.Need {
	right := authorizationv1.ResourceAttributes{Verb: "restore", Group: capturev1.GroupName}
	switch from := r.Spec.Source; {
	case from.Checkpoint != nil:
		right.Resource, right.Name = "manifestcheckpoints", from.Checkpoint.Name
	case from.ManifestCaptureRequest != nil:
		ref := from.ManifestCaptureRequest
		right.Resource, right.Namespace, right.Name = "manifestcapturerequests", cmp.Or(ref.Namespace, r.Namespace), ref.Name
		if right.Namespace == r.Namespace {
			return nil
		}
	default:
		return nil
	}
	return []request.Need{{What: "The source is not of this namespace", Right: right}}
}

// permitted says what is wrong with the rights of the requester; stops is false if nothing is.
func permitted(in input) (d fsm.Decision, stops bool) {
	if why, message, refused := in.World.Rights.Refusal(); refused {
		return fsm.Fire(Refused, why).Because("%s", message), true
	}
	if in.World.Rights.Sight == "" {
		return notLooked("source", "what the requester may do"), true
	}
	return d, false
}

// isEarly says that nobody checked who made the request. A guard refuses it in every phase: whoever forges a request
// can forge its status, too.
func isEarly(in input) bool { return in.World.Rights.IsEarly() }

func saysEarly(in input) string {
	_, message, _ := in.World.Rights.Refusal()
	return message
}

func unproven(in input) (string, bool) { return in.World.Rights.Unsettled() }
