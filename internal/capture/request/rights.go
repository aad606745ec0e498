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
	Unguarded RightsSight = "Unguarded" // the API server does not check who makes requests
	Early     RightsSight = "Early"     // it does, but may not have checked who made this one
	Unproven  RightsSight = "Unproven"  // a policy is missing that would show whether this one was accepted
)

// Refusal is why a request is not carried out; given is false if its requester has all rights, or nobody asked yet.
func (r Rights) Refusal() (why fsm.Reason, message string, given bool) {
	switch r.Sight {
	case Denied:
		return capturev1.ReasonForbidden, r.Why + "; ask an administrator for that right, and make another request.", true
	case Unguarded:
		return capturev1.ReasonPolicyMissing, r.Why + ", so the API server did not check who made the request; " +
			"let the platform team install the chart of the manager's version again (helm upgrade), then make another request.", true
	case Early:
		return capturev1.ReasonMadeTooEarly, r.Why + ", so the API server may not have checked who made it; make the request again.", true
	}
	return "", "", false
}

// IsEarly says that nobody checked who made the request. It is not carried out, whatever its status says.
func (r Rights) IsEarly() bool { return r.Sight == Early }

// Unsettled is what a request waits for that may have been accepted.
func (r Rights) Unsettled() (message string, is bool) {
	return "Waiting for the admission policies: " + r.Why + ", so nobody can tell whether the request was accepted; " +
		"let the platform team install the chart of the manager's version again (helm upgrade).", r.Sight == Unproven
}
