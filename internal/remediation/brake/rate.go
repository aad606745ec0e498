package brake

import (
	"fmt"
	"slices"
	"time"
)

// RateWindow is the time over which releases are counted.
const RateWindow = time.Hour

// Rate holds an execution in a namespace in which as many were released within an hour as may be.
func (l Limits) Rate(x Run, others []Run, now time.Time) *Closed {
	var released []time.Time
	for _, o := range others {
		if o.Namespace == x.Namespace && o.UID != x.UID && !o.ReleasedAt.IsZero() {
			released = append(released, o.ReleasedAt)
		}
	}
	until, full := full(released, l.PerNamespace, RateWindow, now)
	if !full {
		return nil
	}
	return &Closed{
		Until: until,
		Why: fmt.Sprintf("as many executions were released in namespace %s within an hour as may be, which is %d (--remediation-rate-per-namespace). "+
			"The execution goes on by itself; the platform team can raise the limit.", x.Namespace, l.PerNamespace),
	}
}

// full says that as many times as may be are within the window, and when that ends. A limit of 0 is none.
func full(times []time.Time, most int, window time.Duration, now time.Time) (until time.Time, is bool) {
	if most <= 0 || len(times) < most {
		return time.Time{}, false
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	until = times[most-1].Add(window)
	return until, until.After(now)
}
