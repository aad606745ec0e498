package act

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// allowance is how much each server may send.
type allowance struct {
	perSecond int64 // 0 is as much as it can
	bytes     int64 // that were last begun to be sent, by who sends most
	since     time.Time
}

// breath is how long a step waits at most: what is allowed may be changed meanwhile.
const breath = time.Second

// slots is how many slots of a server hold about as many bytes as it may send at once.
func (a *allowance) slots(s *topology.Server, bytes int64) int {
	if a.perSecond > 0 {
		bytes = min(bytes, a.perSecond)
	}
	return int(min(int64(max(1, s.Self().Slots.Count())), max(1, bytes/perSlot(s))))
}

// begin forgets what was sent before.
func (a *allowance) begin(now time.Time) { a.bytes, a.since = 0, now }

// spend notes that a server sends so many of its slots.
func (a *allowance) spend(s *topology.Server, slots int) {
	a.bytes = max(a.bytes, int64(slots)*perSlot(s))
}

// left is for how long nothing else may be begun.
func (a *allowance) left(now time.Time) time.Duration {
	if a.perSecond == 0 {
		return 0
	}
	seconds := float64(a.bytes) / float64(a.perSecond)
	return time.Duration(seconds*float64(time.Second)) - now.Sub(a.since)
}

// spent waits a while, if nothing may be begun yet.
func (a *allowance) spent(ctx context.Context) (bool, error) {
	left := a.left(time.Now())
	if left <= 0 {
		return false, nil
	}
	select {
	case <-ctx.Done():
		return true, ctx.Err()
	case <-time.After(min(left, breath)):
		return true, nil
	}
}

// perSlot is about how many bytes the keys in a slot of a server take.
func perSlot(s *topology.Server) int64 {
	return max(1, s.Dataset/int64(max(1, s.Self().Slots.Count())))
}
