package manifestcapture

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Needs are the rights that a capture needs of its requester. What it reads, the account of the namespace may list;
// but Secrets are kept apart from people who may use that account.
func Needs(r *capturev1.ManifestCaptureRequest) []request.Need {
	if !r.Spec.IncludeSecrets {
		return nil
	}
	return []request.Need{{What: "The capture includes Secrets", Right: authorizationv1.ResourceAttributes{
		Verb: "get", Resource: "secrets", Namespace: r.Namespace,
	}}}
}

// permitted says what is wrong with the rights of the requester; stops is false if nothing is.
func permitted(in input) (d fsm.Decision, stops bool) {
	if why, message, refused := in.World.Rights.Refusal(); refused {
		return refuse(why, "%s", message), true
	}
	if in.World.Rights.Sight == "" {
		return notLooked(), true
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
