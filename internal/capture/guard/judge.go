package guard

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inForceAfter is how long API servers may take until they apply a policy that was written. Times of
// objects are whole seconds, so it covers the second or so that they do take.
const inForceAfter = 2 * time.Second

// Live is what the API server has of the policies and bindings of the area.
type Live struct {
	Policies []admissionv1.ValidatingAdmissionPolicy
	Bindings []admissionv1.ValidatingAdmissionPolicyBinding
}

// Gap says what is wrong with the policies of this moment, in words that complete a sentence; "" is nothing.
func (s Shipped) Gap(live Live) string {
	why, _ := s.look(live)
	return why
}

// GapAt says what was wrong with them when an object was made. What was installed or changed later
// did not look at that object.
func (s Shipped) GapAt(live Live, made time.Time) string {
	why, since := s.look(live)
	if why == "" && made.Before(since.at.Add(inForceAfter)) {
		return since.what + " was not in force yet when the request was made"
	}
	return why
}

// written is the youngest of several objects.
type written struct {
	what string
	at   time.Time
}

func (w *written) note(what string, obj metav1.Object) {
	if at := writtenAt(obj); at.After(w.at) {
		*w = written{what, at}
	}
}

// look finds the first object that is missing or another, or else the one that was written last.
func (s Shipped) look(live Live) (gap string, last written) {
	policies, bindings := map[string]*admissionv1.ValidatingAdmissionPolicy{}, map[string]*admissionv1.ValidatingAdmissionPolicyBinding{}
	for i := range live.Policies {
		policies[live.Policies[i].Name] = &live.Policies[i]
	}
	for i := range live.Bindings {
		bindings[live.Bindings[i].Name] = &live.Bindings[i]
	}
	for _, want := range s.Policies {
		what, is := "ValidatingAdmissionPolicy "+want.Name, policies[want.Name]
		switch {
		case is == nil || is.DeletionTimestamp != nil:
			return what + " is missing", last
		case !equality.Semantic.DeepEqual(is.Spec, want.Spec):
			return what + " is not the one that is shipped", last
		}
		last.note(what, is)
	}
	for _, want := range s.Bindings {
		what, is := "ValidatingAdmissionPolicyBinding "+want.Name, bindings[want.Name]
		switch {
		case is == nil || is.DeletionTimestamp != nil:
			return what + " is missing", last
		case !equality.Semantic.DeepEqual(is.Spec, want.Spec):
			return what + " is not the one that is shipped", last
		}
		last.note(what, is)
	}
	return "", last
}

// writtenAt is when an object was created, or last changed: what was changed may have been weaker before.
func writtenAt(obj metav1.Object) time.Time {
	at := obj.GetCreationTimestamp().Time
	for _, by := range obj.GetManagedFields() {
		if by.Subresource == "" && by.Time != nil && by.Time.After(at) {
			at = by.Time.Time
		}
	}
	return at
}
