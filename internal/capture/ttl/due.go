// Package ttl deletes requests that ended long ago. A request does not know of it: no
// machine, no status and no annotation has a part in it, only the time at which the request
// ended and what the operator of the area chose.
package ttl

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Terms are how long requests outlive their end; 0 is for ever.
type Terms struct{ Failed, Succeeded time.Duration }

// Ever says that some request goes at some time.
func (t Terms) Ever() bool { return t.Failed > 0 || t.Succeeded > 0 }

// End is what the verdict on a request rests on.
type End struct {
	Ready  metav1.ConditionStatus // "" is none: a request has the condition only once it has ended
	At     *metav1.Time           // status.completionTimestamp
	Detach bool
}

// Due says when a request goes, if it ever does. A detached volume is the only copy of its
// data, and a failed request may be all that still says where it is: so Detach never goes.
func (t Terms) Due(e End) (at time.Time, ever bool) {
	if e.Detach || e.At == nil || e.At.IsZero() {
		return time.Time{}, false
	}
	var term time.Duration
	switch e.Ready {
	case metav1.ConditionTrue:
		term = t.Succeeded
	case metav1.ConditionFalse:
		term = t.Failed
	}
	return e.At.Add(term), term > 0
}

// How often requests are looked through.
const (
	soonest = time.Second
	latest  = 5 * time.Minute
)

// Every is how often to look, so that nothing outlives its term by more than a tenth of it.
func (t Terms) Every() time.Duration {
	every := latest
	for _, term := range []time.Duration{t.Failed, t.Succeeded} {
		if term > 0 {
			every = min(every, term/10)
		}
	}
	return max(every, soonest)
}
