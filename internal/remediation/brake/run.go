package brake

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Run is what the brakes look at of one execution.
type Run struct {
	UID       types.UID
	Namespace string
	Name      string
	Action    string
	Target    types.UID // of its plan
	Request   types.UID // the RemediationRequest of which it is a step
	// TakesBack is the execution that it takes back.
	TakesBack types.UID
	// ReleasedAt is when its Job was released; zero is never.
	ReleasedAt time.Time
	// ChangedAt is when its action was seen to have changed the target; zero is never.
	ChangedAt time.Time
	// FailedAt is when it failed after its Job was released; zero is never.
	FailedAt time.Time
}

func (r Run) title() string { return r.Namespace + "/" + r.Name }

// Limits say when the brakes close. A limit of 0 is a brake that never closes.
type Limits struct {
	// Cooldown is how soon an action may be done to a target again.
	Cooldown time.Duration
	// PerNamespace is how many executions may be released in a namespace within an hour.
	PerNamespace int
	// Failures is how many executions may fail within Window before all others are held.
	Failures int
	Window   time.Duration
}

// Usual are the limits by default.
var Usual = Limits{Cooldown: 5 * time.Minute, PerNamespace: 60, Failures: 10, Window: 10 * time.Minute}

// Brakes are those that keep an execution from being released; nil is one that is open.
type Brakes struct {
	Storm    *Closed `json:"storm,omitempty"`
	Rate     *Closed `json:"rate,omitempty"`
	Cooldown *Closed `json:"cooldown,omitempty"`
}

// Any says that one of them is closed.
func (b Brakes) Any(now time.Time) bool {
	for _, c := range []*Closed{b.Storm, b.Rate, b.Cooldown} {
		if _, is := c.At(now); is {
			return true
		}
	}
	return false
}

// Closed is a brake that holds an execution.
type Closed struct {
	Until time.Time `json:"until"`
	// Why says what closed it, and who must act, in sentences.
	Why string `json:"why"`
}

// At says for how long the brake holds, and why, unless it has opened by now.
func (c *Closed) At(now time.Time) (message string, is bool) {
	if c == nil || !now.Before(c.Until) {
		return "", false
	}
	return "Waiting until " + c.Until.UTC().Format(time.RFC3339) + ": " + c.Why, true
}

// words writes a duration without the units that it does not need.
func words(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
