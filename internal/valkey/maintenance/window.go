// Package maintenance says when a cluster may be restarted without a user's wish. It is pure.
package maintenance

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the image of the manager has no time zones

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Windows is the state of a cluster's windows at some time.
type Windows struct {
	Open bool
	// Next is when one opens next, in the zone of the windows; zero is not known.
	Next time.Time
	// Doubt is what is wrong with the windows; they are closed then.
	Doubt string
}

// A window opens at least once in so many days, and one that opened two days ago is closed by now: it
// stays open for a day at most, and a day has 25 hours at most.
const (
	daysBack  = 2
	daysAhead = 8
)

// At is the state of windows at a time. Without any, a restart may begin at any time.
func At(m *valkeyv1.Maintenance, now time.Time) (is Windows) {
	if m == nil || len(m.Windows) == 0 {
		return Windows{Open: true}
	}
	zone, err := time.LoadLocation(m.TimeZone)
	if err != nil {
		return Windows{Doubt: fmt.Sprintf("the manager does not know the time zone %q", m.TimeZone)}
	}
	for _, w := range m.Windows {
		start, err := time.Parse("15:04", w.Start)
		if err != nil {
			return Windows{Doubt: fmt.Sprintf("%q is no time of day", w.Start)}
		}
		duration, err := time.ParseDuration(w.Duration)
		if err != nil {
			return Windows{Doubt: fmt.Sprintf("%q is no duration", w.Duration)}
		}
		for _, opens := range openings(w.Days, start, now.In(zone)) {
			if opens.After(now) {
				is.Next = earlier(is.Next, opens)
			} else if now.Before(opens.Add(duration)) {
				is.Open = true
			}
		}
	}
	return is
}

// openings are the times about now at which a window opens. Of a time that comes twice, because clocks are set
// back, the second counts.
func openings(days []valkeyv1.Weekday, start, now time.Time) (times []time.Time) {
	for n := -daysBack; n <= daysAhead; n++ {
		opens := time.Date(now.Year(), now.Month(), now.Day()+n, start.Hour(), start.Minute(), 0, 0, now.Location())
		if len(days) == 0 || slices.Contains(days, weekday(now, n)) {
			times = append(times, opens)
		}
	}
	return times
}

// weekday is the day of the week so many days from now. It is that of noon: midnight may not be there.
func weekday(now time.Time, n int) valkeyv1.Weekday {
	noon := time.Date(now.Year(), now.Month(), now.Day()+n, 12, 0, 0, 0, time.UTC)
	return valkeyv1.Weekday(noon.Weekday().String()[:3])
}

// earlier is the earlier of two times, of which the first may be missing.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
