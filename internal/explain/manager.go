package explain

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manager says whether one is there to act. Where that cannot be seen, what it has just done shows
// that there is one, and what it has not done that there may be none.
func (f Facts) manager() (dead bool, words string) {
	dead, words = f.election()
	switch l := f.Leader; {
	case l.Found || l.Lease != "" && !l.Hidden:
		return dead, words
	case f.overdue():
		return true, strings.TrimSpace(words + " What was due by now has not been done, so perhaps no manager runs.")
	case f.lively():
		return false, ""
	}
	return false, words
}

// election says what the Lease shows: that no manager leads, or that it may not be read.
func (f Facts) election() (dead bool, words string) {
	const nothing = "nothing changes until one does."
	switch l := f.Leader; {
	case l.Lease == "" || l.Leads(f.Now): // not looked at, or well
		return false, ""
	case l.Found && l.Renewed.IsZero():
		return true, fmt.Sprintf("No manager of area %s leads; %s", f.Area, nothing) + l.elsewhere()
	case l.Found:
		since := fmt.Sprintf("%s (%s)", Moment(metav1.NewTime(l.Renewed)), Age(l.Renewed, f.Now))
		return true, fmt.Sprintf("No manager of area %s leads since %s; %s", f.Area, since, nothing) + l.elsewhere()
	case l.Hidden:
		return false, fmt.Sprintf("You may not read Lease %s, so it is not known whether a manager of area %s runs.", l.Lease, f.Area)
	default:
		return true, fmt.Sprintf("There is no Lease %s, so no manager of area %s has run there; %s", l.Lease, f.Area, nothing)
	}
}

// elsewhere says that a manager may lead by a Lease that the user may not see.
func (l Leader) elsewhere() string {
	if !l.Hidden {
		return ""
	}
	return fmt.Sprintf(" That is what Lease %s says. You may not look for one in other namespaces: if Statecraft was moved, name its namespace "+
		"with --system-namespace.", l.Lease)
}

// overdue says that a manager would have acted by now.
func (f Facts) overdue() bool {
	p := f.Progress
	if p.Phase == "" {
		return f.Now.Sub(f.Created.Time) > recent
	}
	late := func(t *metav1.Time) bool { return t != nil && f.Now.Sub(t.Time) > recent }
	return p.HeldSince == nil && (late(p.Deadline) || late(p.RetryAt)) // a hold puts off tries, too
}

// lively says that a manager has just written something.
func (f Facts) lively() bool {
	times := []metav1.Time{f.Progress.Since}
	for _, c := range f.Progress.Conditions {
		times = append(times, c.LastTransitionTime)
	}
	for _, e := range f.Events {
		times = append(times, e.At)
	}
	for _, t := range times {
		if !t.IsZero() && f.Now.Sub(t.Time) < recent {
			return true
		}
	}
	return false
}
