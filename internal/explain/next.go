package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// next are the ways out of the phase, as the table has them. What is as wished need not go on.
func (f Facts) next() (ways []string) {
	rule, known := f.Table.Phases[f.Progress.Phase]
	if !known || !f.sameVersion() || f.asWished() {
		return nil
	}
	by := map[fsm.Phase][]string{}
	var targets []fsm.Phase
	for _, e := range rule.Ways {
		if f.Table.Phases[e.To].vanishes() {
			continue
		}
		if by[e.To] == nil {
			targets = append(targets, e.To)
		}
		by[e.To] = append(by[e.To], string(e.On))
	}
	for _, to := range targets {
		ways = append(ways, fmt.Sprintf("%s leads to %s: %s", strings.Join(by[to], " or "), to, f.Table.Phases[to].Doc))
	}
	return ways
}

// vanishes says that the phase ends with the object itself. That a user may delete it is no news.
func (r Rule) vanishes() bool { return !r.Final && len(r.Ways) == 0 }

// until says how long the wait may last, and what its end leads to.
func (f Facts) until() []string {
	rule := Rule{}
	if f.sameVersion() {
		rule = f.Table.Phases[f.Progress.Phase]
	}
	return f.untilOf(f.Progress.Place, rule)
}

func (f Facts) untilOf(p meta.Place, rule Rule) (words []string) {
	if p.HeldSince != nil {
		words = append(words, "Held "+since(*p.HeldSince, f.Now)+".")
	}
	if p.Deadline != nil {
		words = append(words, f.givenUp(p, rule))
	}
	if p.RetryAt != nil && p.HeldSince == nil { // while it is held nothing is tried
		tries := fmt.Sprintf("%d tries in a row have failed", p.Failures)
		if p.Failures == 1 {
			tries = "One try has failed"
		}
		words = append(words, fmt.Sprintf("%s; the next %s.", tries, dueAt(*p.RetryAt, f.Now)))
	}
	return words
}

// givenUp says when the phase is, and what that leads to.
func (f Facts) givenUp(p meta.Place, rule Rule) string {
	leads := ""
	if i := slices.IndexFunc(rule.Ways, func(e fsm.Edge) bool { return e.On == rule.Late }); i >= 0 {
		leads = fmt.Sprintf("; %s then leads to %s", rule.Late, rule.Ways[i].To)
	}
	switch left := p.Deadline.Sub(f.Now); {
	case p.HeldSince != nil:
		return fmt.Sprintf("Meanwhile the clock stands; after the release the phase has %s left%s.", duration.HumanDuration(p.Deadline.Sub(p.HeldSince.Time)), leads)
	case left < 0:
		return fmt.Sprintf("The phase was to be given up at %s, %s ago%s.", Moment(*p.Deadline), duration.HumanDuration(-left), leads)
	}
	return fmt.Sprintf("The phase is given up at %s, in %s%s.", Moment(*p.Deadline), duration.HumanDuration(p.Deadline.Sub(f.Now)), leads)
}

// lanes say where those stand that have not ended.
func (f Facts) lanes() (words []string) {
	if !slices.Contains(f.Table.LanesIn, f.Progress.Phase) {
		return nil
	}
	for _, l := range f.Lanes {
		rule, known := f.Table.Lanes[l.Phase]
		if l.Phase == "" || known && rule.Final {
			continue
		}
		if !f.sameVersion() {
			rule = Rule{}
		}
		text := fmt.Sprintf("%s: phase %s for %s.", l.Name, l.Phase, Age(l.Since.Time, f.Now))
		for _, until := range f.untilOf(l.Place, rule) {
			text += " " + until
		}
		words = append(words, text)
	}
	return words
}

// Age is how long ago something was, as kubectl says it.
func Age(from, now time.Time) string { return duration.HumanDuration(max(0, now.Sub(from))) }

// Moment is a time as it is shown everywhere.
func Moment(t metav1.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func since(t metav1.Time, now time.Time) string {
	return fmt.Sprintf("since %s (%s)", Moment(t), Age(t.Time, now))
}

func dueAt(t metav1.Time, now time.Time) string {
	if left := t.Sub(now); left >= 0 {
		return fmt.Sprintf("is due at %s, in %s", Moment(t), duration.HumanDuration(left))
	}
	return fmt.Sprintf("was due at %s, %s ago", Moment(t), Age(t.Time, now))
}
