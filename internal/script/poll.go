package script

import (
	"context"
	"time"
)

// pollEvery is how often a real system is asked whether it has come to something.
const pollEvery = 50 * time.Millisecond

// Poll waits until a real system has done what it is to do, or long enough. That it did not is no error: the script says
// what that means.
func Poll(within time.Duration) func(ctx context.Context, done func() bool) error {
	return func(ctx context.Context, done func() bool) error {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for !done() {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
		return nil
	}
}
