package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// RaiseEpoch implements Writer.
//
// NOTE: a server takes the new epoch whatever it is about to lose. A replica that was elected a
// moment ago, or the target of its slots, would lose them to it: so it is asked once more whether
// it makes its clients wait, which it does while it is being replaced.
func (c *Client) RaiseEpoch(ctx context.Context, at Target, above int64) error {
	jobs, err := c.SlotMigrations(ctx, at)
	if err != nil && !errors.Is(err, errTooOld) {
		return err
	}
	view, err := c.view(ctx, at)
	if err != nil || view.Self().Epoch > above {
		return err
	}
	waits, err := c.waits(ctx, at)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case view.Self().Follows != "":
		why = "it is no primary"
	case len(view.Open) > 0 || slices.ContainsFunc(jobs, func(j topology.SlotJob) bool { return !j.Ended() }):
		why = "slots are on their way"
	case waits:
		why = "it makes its clients wait, or does not say that it does not"
	}
	if why != "" {
		return fmt.Errorf("raise the epoch of %s: %w: %s", at.Addr, ErrRefused, why)
	}
	return c.tell(ctx, at, []string{"CLUSTER", "BUMPEPOCH"})
}

// waits says that a server does not say that it serves its clients at once.
func (c *Client) waits(ctx context.Context, at Target) (bool, error) {
	replies, err := c.do(ctx, at, []string{"INFO", "clients"})
	if err != nil {
		return false, err
	}
	text, err := replies[0].ToString()
	if err != nil {
		return false, fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	return ParseInfo(text)["paused_reason"] != "none", nil
}
