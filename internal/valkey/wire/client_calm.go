package wire

import (
	"context"
	"time"
)

const (
	calmFor   = 250 * time.Millisecond // is longer than most failovers take
	calmLooks = 10 * time.Millisecond
	calmAfter = 50 * time.Millisecond // is about what the others need to hear of it
)

// stayCalm returns when a server has become a primary and others may have heard of it, or when it had the time
// to. Until then its clients wait, and whoever asked for the failover would go on to write down what it did, and to
// look at everybody: on a small machine with the processors and the disk that the failover is waiting for. What
// came of it is for the next look.
func (c *Client) stayCalm(ctx context.Context, at Target) {
	ctx, cancel := context.WithTimeout(ctx, calmFor)
	defer cancel()
	for {
		if !wait(ctx, calmLooks) {
			return
		}
		replies, err := c.do(ctx, at, []string{"ROLE"})
		if err != nil {
			return
		}
		answer, err := replies[0].ToAny()
		if err != nil {
			return
		}
		if role, err := ParseRole(answer); err != nil || role.Primary {
			wait(ctx, calmAfter)
			return
		}
	}
}

func wait(ctx context.Context, d time.Duration) (passed bool) {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
