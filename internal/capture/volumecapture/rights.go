package volumecapture

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Needs are the rights that a capture needs of its requester.
func Needs(r *capturev1.VolumeCaptureRequest) []request.Need {
	if r.Spec.Mode != capturev1.Detach {
		return nil
	}
	return []request.Need{{What: "Mode Detach deletes the claim", Right: authorizationv1.ResourceAttributes{
		Verb: "delete", Resource: "persistentvolumeclaims", Namespace: r.Namespace, Name: r.Spec.Target.Name,
	}}}
}

// permitted says what is wrong with the rights of the requester; stop is false if nothing is.
func permitted(in input) (d fsm.Decision, stop bool) {
	if why, message, refused := in.World.Rights.Refusal(); refused {
		return fsm.Fire(Refused, why).Because("%s", message), true
	}
	if in.World.Rights.Sight == "" {
		return fsm.Wait(ReasonNotLooked, "claim").In(recheck).Because("Waiting for the manager to ask what the requester may do."), true
	}
	return d, false
}

// isEarly says that nobody checked who made the request. A guard refuses it in every phase: whoever forges a request
// can forge its status, too.
func isEarly(in input) bool { return in.World.Rights.IsEarly() }

// wasNeverBegun says that nothing but a forged status speaks for the request: without a keeper it has made nothing.
func wasNeverBegun(in input) bool { return isEarly(in) && in.World.Keeping.Lost() }

func saysEarly(in input) string {
	_, message, _ := in.World.Rights.Refusal()
	return message
}

func unproven(in input) (string, bool) { return in.World.Rights.Unsettled() }
