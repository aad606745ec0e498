package request

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Need is a right that a request needs of its requester. Admission asks for the same ones; what it did
// not see, or what was allowed then and is not any more, only the manager can refuse.
type Need struct {
	// What is what needs it, as the first half of a sentence.
	What  string
	Right authorizationv1.ResourceAttributes
}

// Rights is what access reviews of a request's requester have said.
type Rights struct {
	Sight RightsSight `json:"sight,omitempty"`
	// Why is what is wrong, in words that begin a sentence.
	Why string `json:"why,omitempty"`
}

// RightsSight is what was found; "" is not asked.
type RightsSight string

// What may be found.
const (
	Granted   RightsSight = "Granted"   // all that is needed, if anything is
	Denied    RightsSight = "Denied"    // one right is missing
	Unguarded RightsSight = "Unguarded" // the API server did not check who made the request
)

// Refusal is why a request is not carried out; given is false if its requester has all rights, or nobody asked yet.
func (r Rights) Refusal() (why fsm.Reason, message string, given bool) {
	switch r.Sight {
	case Denied:
		return capturev1.ReasonForbidden, r.Why + "; ask an administrator for that right, and make another request.", true
	case Unguarded:
		return capturev1.ReasonPolicyMissing, r.Why + ", so the API server did not check who made the request; apply config/admission/capture, and make another request.", true
	}
	return "", "", false
}
