package approval

import (
	"fmt"
	"time"
)

// Decision is what one person decided about a plan.
type Decision struct {
	By    string // the user, as admission recorded it
	Token string
	// Rejects says no. A rejection does not expire: what a person forbade is not allowed by
	// waiting.
	Rejects bool
	At      time.Time // when it was decided, by the API server's clock
	Until   time.Time // when it ends; zero is the default term after At
}

// Terms are how long approvals hold.
type Terms struct {
	Default time.Duration // of one that does not say until when
	Longest time.Duration // of one that does
}

// until is when an approval ends. One that does not say when it was given has ended.
func (t Terms) until(d Decision) time.Time {
	switch {
	case d.At.IsZero():
		return time.Time{}
	case d.Until.IsZero():
		return d.At.Add(t.Default)
	}
	if longest := d.At.Add(t.Longest); d.Until.After(longest) {
		return longest
	}
	return d.Until
}

// State is what the decisions on a plan come to.
type State string

// The states of a plan.
const (
	Waiting  State = "Waiting" // nobody whose word counts has decided
	Approved State = "Approved"
	Expired  State = "Expired" // it was approved, and no approval holds any more
	Rejected State = "Rejected"
)

// Verdict is what the decisions on a plan come to, at one moment.
type Verdict struct {
	State State
	By    string    // who decided it
	Until time.Time // when the approval ends, or ended
	Why   string    // in words for a status
}

// Judge says whether a plan may be carried out now. Decisions on other plans do not count,
// whoever made them. A rejection wins over all approvals; of these the one that lasts counts.
func Judge(p Plan, decisions []Decision, terms Terms, now time.Time) Verdict {
	v, others := Verdict{State: Waiting}, 0
	for _, d := range decisions {
		switch {
		case !p.Names(d.Token):
			others++
		case d.Rejects:
			return Verdict{State: Rejected, By: d.By, Why: fmt.Sprintf("%s rejected the plan", d.By)}
		case p.AskedBy != "" && d.By == p.AskedBy || d.By == "":
			// Nobody approves for himself, and somebody must have decided.
		default:
			if until := terms.until(d); v.State == Waiting || until.After(v.Until) {
				v = Verdict{State: Approved, By: d.By, Until: until}
			}
		}
	}
	return v.at(now, others)
}

// at says it in words, and sees whether the time of an approval is over.
func (v Verdict) at(now time.Time, others int) Verdict {
	switch {
	case v.State == Waiting && others > 0:
		v.Why = fmt.Sprintf("no person has approved this plan; %d decisions are about other plans", others)
	case v.State == Waiting:
		v.Why = "no person has approved this plan"
	case !now.Before(v.Until):
		v.State = Expired
		v.Why = fmt.Sprintf("the approval by %s ended at %s", v.By, v.Until.UTC().Format(time.RFC3339))
	default:
		v.Why = fmt.Sprintf("%s approved the plan until %s", v.By, v.Until.UTC().Format(time.RFC3339))
	}
	return v
}
