package brake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostNamed is how many failed executions a message names.
const mostNamed = 5

// Storm holds an execution while more of them fail than may: what repairs one target at a time would break the next one in
// the same way. No other namespace counts for more than half of the limit, so whoever may fail in one does not hold the others.
func (l Limits) Storm(x Run, others []Run, now time.Time) *Closed {
	failed := l.shared(x.Namespace, l.failedLately(others, now))
	if l.Failures <= 0 || len(failed) <= l.Failures {
		return nil
	}
	return &Closed{
		Until: failed[l.Failures].FailedAt.Add(l.Window), // then no more are left than may be
		Why: fmt.Sprintf("%d executions failed within %s, which holds all others (--remediation-storm-failures=%d): %s. "+
			"The platform team finds out why they fail; the execution goes on by itself when fewer do.", len(failed), words(l.Window), l.Failures, named(failed)),
	}
}

// failedLately are the executions that failed within the window, the last one first.
func (l Limits) failedLately(others []Run, now time.Time) (failed []Run) {
	for _, o := range others {
		if !o.FailedAt.IsZero() && o.FailedAt.Add(l.Window).After(now) {
			failed = append(failed, o)
		}
	}
	slices.SortFunc(failed, func(a, b Run) int {
		return cmp.Or(b.FailedAt.Compare(a.FailedAt), strings.Compare(a.title(), b.title()))
	})
	return failed
}

// shared leaves out what is more than a fair share of a namespace other than the execution's own.
func (l Limits) shared(own string, failed []Run) []Run {
	of := map[string]int{}
	return slices.DeleteFunc(failed, func(r Run) bool {
		of[r.Namespace]++
		return r.Namespace != own && of[r.Namespace] > max(1, l.Failures/2)
	})
}

func named(runs []Run) string {
	var names []string
	for _, r := range runs[:min(len(runs), mostNamed)] {
		names = append(names, r.title())
	}
	if more := len(runs) - mostNamed; more > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
