package fsm

import (
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

const (
	soon    = time.Second      // how soon effects are looked at again
	later   = 10 * time.Second // how soon a chain that ran in a circle is
	longest = 5 * time.Minute  // the longest back-off
)

// Stamps are whole seconds, or a saved place would differ from the one in hand.
// A deadline is rounded up: never late before it is due.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }
func stampUp(t time.Time) *metav1.Time {
	s := stamp(t.Add(time.Second - time.Nanosecond))
	return &s
}

func due(at *metav1.Time, now time.Time) bool { return at != nil && !now.Before(at.Time) }

// late says that the deadline has passed and the clock is running.
func late(p *meta.Place, now time.Time) bool { return p.HeldSince == nil && due(p.Deadline, now) }

// stopClock notes that a hold began.
func stopClock(p *meta.Place, now time.Time) {
	if p.HeldSince == nil {
		s := stamp(now)
		p.HeldSince = &s
	}
}

// startClock moves the deadline by the time held.
func startClock(p *meta.Place, now time.Time) {
	if p.HeldSince != nil && p.Deadline != nil {
		p.Deadline = stampUp(p.Deadline.Add(now.Sub(p.HeldSince.Time)))
	}
	p.HeldSince = nil
}

// backOff notes a failed batch: 1 s·2ⁿ, at most 5 min, spread by up to a quarter.
func backOff(p *meta.Place, uid string, now time.Time) {
	wait := min(time.Second<<min(p.Failures, 20), longest)
	h := fnv.New32a()
	h.Write([]byte(uid))
	p.Failures++
	p.RetryAt = stampUp(now.Add(wait + wait*time.Duration(h.Sum32()%25)/100))
}

// alarm is the earliest time at which p wants to be looked at, or never.
func alarm(p *meta.Place, now time.Time, wake time.Duration) time.Duration {
	if p.Deadline != nil && p.HeldSince == nil && now.Before(p.Deadline.Time) {
		wake = min(wake, p.Deadline.Sub(now))
	}
	if p.RetryAt != nil && now.Before(p.RetryAt.Time) {
		wake = min(wake, p.RetryAt.Sub(now))
	}
	return wake
}
