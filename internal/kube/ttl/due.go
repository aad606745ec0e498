// Package ttl deletes objects that ended long ago, of any kind that ends. An object does not
// know of it: no machine, no status and no annotation has a part in it, only the time at which
// it ended and what the operator of the area chose.
package ttl

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Terms are how long objects outlive their end; 0 is for ever.
type Terms struct{ Failed, Succeeded time.Duration }

// Ever says that some object goes at some time.
func (t Terms) Ever() bool { return t.Failed > 0 || t.Succeeded > 0 }

// End is what the verdict on an object rests on.
type End struct {
	Ready metav1.ConditionStatus // "" is none: an object has the condition only once it has ended
	At    *metav1.Time           // when it ended
	// Spared says that the object must stay whatever its age, because something depends on it
	// that nothing else tells of.
	Spared bool
}

// NewEnd is the end of an object, as its conditions tell it.
func NewEnd(conditions []metav1.Condition, at *metav1.Time) End {
	e := End{At: at}
	if ready := apimeta.FindStatusCondition(conditions, fsm.Ready); ready != nil {
		e.Ready = ready.Status
	}
	return e
}

// Due says when an object goes, if it ever does.
func (t Terms) Due(e End) (at time.Time, ever bool) {
	if e.Spared || e.At == nil || e.At.IsZero() {
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

// How often objects are looked through.
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
