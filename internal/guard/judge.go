package guard

import (
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inForceAfter is how long API servers may take until they apply a policy that was written: a second or so, and
// longer if several of them are busy. Times of objects are whole seconds.
const inForceAfter = 10 * time.Second

// Live is what the API server has of the policies and bindings of the area.
type Live struct {
	Policies []admissionv1.ValidatingAdmissionPolicy
	Bindings []admissionv1.ValidatingAdmissionPolicyBinding
	// Record is what a leader has seen of them before; nil is nothing.
	Record *Record
}

// Verdict is what is wrong with the policies of this moment, or since when nothing is.
type Verdict struct {
	// Gap is what is wrong, in words that complete a sentence; "" is nothing.
	Gap string
	// Since is when the last of them was changed; Last is which one that was.
	Since time.Time
	Last  string
	// Unbroken is since when each of them has always been one that is shipped, by this version or by the one before.
	Unbroken time.Time

	seen   map[string]Sighting
	record *Record
}

// Judge compares what the API server has with what is shipped.
func (s Shipped) Judge(live Live) Verdict {
	v := Verdict{seen: map[string]Sighting{}, record: live.Record}
	for _, c := range s.compare(live) {
		if gap := c.gap(); gap != "" {
			return Verdict{Gap: gap}
		}
		since, unbroken := live.Record.datesOf(c)
		if since.After(v.Since) {
			v.Since, v.Last = since, c.what
		}
		if unbroken.After(v.Unbroken) {
			v.Unbroken = unbroken
		}
		v.seen[c.what] = sighting(c.is, unbroken)
	}
	return v
}

// TooEarly says which policy did not look at what was made at that time, though nothing is wrong with it now; "" is that
// all of them did. What names the object in the sentence, as in "the request".
func (v Verdict) TooEarly(what string, made time.Time) string {
	if v.Gap == "" && made.Before(v.Since.Add(inForceAfter)) {
		return v.Last + " was not in force yet when " + what + " was made"
	}
	return ""
}

// Interrupted says why an object that shows that work was begun at that time may be forged, by somebody who was in time
// himself. "" is that the policies have been in force since, by whichever version. What names the work, as in "the request".
func (v Verdict) Interrupted(what string, begun time.Time) string {
	if v.Gap == "" && begun.Before(v.Unbroken.Add(inForceAfter)) {
		return "The admission policies were missing or weaker for a while since " + what + " was begun"
	}
	return ""
}

// comparison is one object that is shipped, and what the API server has of it.
type comparison struct {
	what string        // kind and name
	is   metav1.Object // nil if it is missing
	same bool
}

func (s Shipped) compare(live Live) (all []comparison) {
	for _, want := range s.Policies {
		c := comparison{what: "ValidatingAdmissionPolicy " + want.Name}
		named := func(p admissionv1.ValidatingAdmissionPolicy) bool { return p.Name == want.Name }
		if i := slices.IndexFunc(live.Policies, named); i >= 0 {
			c.is, c.same = &live.Policies[i], equality.Semantic.DeepEqual(live.Policies[i].Spec, want.Spec)
		}
		all = append(all, c)
	}
	for _, want := range s.Bindings {
		c := comparison{what: "ValidatingAdmissionPolicyBinding " + want.Name}
		named := func(b admissionv1.ValidatingAdmissionPolicyBinding) bool { return b.Name == want.Name }
		if i := slices.IndexFunc(live.Bindings, named); i >= 0 {
			c.is, c.same = &live.Bindings[i], equality.Semantic.DeepEqual(live.Bindings[i].Spec, want.Spec)
		}
		all = append(all, c)
	}
	return all
}

func (c comparison) gap() string {
	switch {
	case c.is == nil || c.is.GetDeletionTimestamp() != nil:
		return c.what + " is missing"
	case !c.same:
		return c.what + " is not the one that is shipped"
	}
	return ""
}
