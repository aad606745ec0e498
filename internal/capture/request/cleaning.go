package request

import (
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Cleaning is for how long it is tried to remove what a failed request made. It belongs to
// the keeper, so what is left then goes with the request.
const Cleaning = 10 * time.Minute

// CleanInTime is what a clean-up decided, or its end if it has tried for long. A deadline
// would not do: after a long sleep it is over before anything was tried.
func CleanInTime(d fsm.Decision, place meta.Place, now time.Time, end fsm.Decision) fsm.Decision {
	tried := len(d.Do) == 0 || place.Failures > 0
	if d.On != "" || !tried || now.Sub(place.Since.Time) < Cleaning {
		return d
	}
	return end
}
