package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Failover implements Writer.
func (c *Client) Failover(ctx context.Context, at Target, mode FailoverMode) error {
	self, err := c.self(ctx, at)
	if err != nil || self.Follows == "" && self.Slots != "" {
		return err
	}
	command := []string{"CLUSTER", "FAILOVER"}
	if mode != Agreed {
		command = append(command, string(mode))
	}
	if err := c.tell(ctx, at, command); err != nil {
		return err
	}
	c.stayCalm(ctx, at)
	return nil
}

// Forget implements Writer.
//
// NOTE: a server forgets an owner of slots without a word, and soon most others are
// out of reach for it; and it goes on to send slots to one that it forgot, of whose
// claim to them it then never hears: what this one sees of worth is refused here.
func (c *Client) Forget(ctx context.Context, at Target, ids ...string) error {
	jobs, err := c.SlotMigrations(ctx, at)
	if err != nil && !errors.Is(err, errTooOld) {
		return err
	}
	return c.forget(ctx, at, ids, func(gone topology.Peer) string {
		switch {
		case gone.Slots != "":
			return "it owns slots"
		case slices.ContainsFunc(jobs, func(j topology.SlotJob) bool { return !j.Ended() && (j.Target == gone.ID || j.Source == gone.ID) }):
			return "slots are on their way"
		}
		return ""
	})
}

// ForgetSlotOwner implements Writer.
func (c *Client) ForgetSlotOwner(ctx context.Context, at Target, id string) error {
	return c.forget(ctx, at, []string{id}, func(gone topology.Peer) string {
		if gone.State == "" || gone.State == topology.Handshake {
			return "it has not failed"
		}
		return ""
	})
}

// forget forgets those that nobody else follows, unless there is something that one of them is worth.
func (c *Client) forget(ctx context.Context, at Target, ids []string, worth func(gone topology.Peer) string) error {
	view, err := c.view(ctx, at)
	if err != nil {
		return err
	}
	var commands [][]string
	for _, id := range ids {
		gone, known := view.Peer(id)
		if !known {
			continue
		}
		why := worth(gone)
		if slices.ContainsFunc(view.View, func(p topology.Peer) bool { return p.Follows == id && !slices.Contains(ids, p.ID) }) {
			why = "a replica follows it"
		}
		if why != "" {
			return fmt.Errorf("forget %s at %s: %w: %s", id, at.Addr, ErrNotBlank, why)
		}
		commands = append(commands, []string{"CLUSTER", "FORGET", id})
	}
	if len(commands) == 0 {
		return nil
	}
	return unlessUnknown(c.tell(ctx, at, commands...))
}

// Reset implements Writer.
func (c *Client) Reset(ctx context.Context, at Target, hard bool) error {
	view, err := c.view(ctx, at)
	if err != nil {
		return err
	}
	self, how := view.Self(), "SOFT"
	if self.Slots != "" {
		return fmt.Errorf("reset %s: %w: it owns slots", at.Addr, ErrNotBlank)
	}
	if hard {
		how = "HARD"
	} else if self.Follows == "" && len(view.View) == 1 {
		return nil
	}
	return c.tell(ctx, at, []string{"CLUSTER", "RESET", how})
}

// ConfigSet implements Writer.
func (c *Client) ConfigSet(ctx context.Context, at Target, settings map[string]string) error {
	if _, err := c.self(ctx, at); err != nil || len(settings) == 0 {
		return err
	}
	command := []string{"CONFIG", "SET"}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		command = append(command, name, settings[name])
	}
	return c.tell(ctx, at, command)
}
