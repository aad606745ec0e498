package fake

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Meet implements wire.Writer. The server shakes hands anew even with one that it
// knows: that is how it makes itself seen.
func (c *Cluster) Meet(_ context.Context, at wire.Target, others []wire.Target) error {
	return c.tell(at, func(s *server) error {
		for _, other := range others {
			if _, err := c.at(other); err != nil {
				return err
			}
		}
		for _, other := range others {
			s.met[other.Addr] = true
		}
		return nil
	})
}

// AddSlots implements wire.Writer.
func (c *Cluster) AddSlots(_ context.Context, at wire.Target, slots topology.Slots) error {
	return c.tell(at, func(s *server) error {
		if !s.primary() {
			return fmt.Errorf("add slots to %s: %w", at.Addr, wire.ErrNotBlank)
		}
		for id, p := range s.view {
			if id != s.id && p.slots.Overlaps(slots) {
				return fmt.Errorf("add slots to %s: %w", at.Addr, wire.ErrNotBlank)
			}
		}
		s.self().slots = s.self().slots.With(slots)
		return nil
	})
}

// Replicate implements wire.Writer.
func (c *Cluster) Replicate(_ context.Context, at wire.Target, primary string) error {
	return c.tell(at, func(s *server) error {
		to, self := s.view[primary], s.self()
		switch {
		case self.follows == primary:
			return nil
		case to == nil:
			return fmt.Errorf("replicate %s: %w", primary, wire.ErrUnknownPeer)
		case primary == s.id || to.follows != "":
			return fmt.Errorf("replicate %s: %w: only a primary can be followed", primary, wire.ErrRefused)
		case s.primary() && (self.slots != "" || s.keys() > 0):
			return fmt.Errorf("replicate %s: %w", primary, wire.ErrNotBlank)
		}
		s.follow(primary)
		return nil
	})
}

// SetNodeTimeout implements wire.Writer.
func (c *Cluster) SetNodeTimeout(ctx context.Context, at wire.Target, timeout time.Duration) error {
	return c.ConfigSet(ctx, at, map[string]string{nodeTimeout: strconv.FormatInt(timeout.Milliseconds(), 10)})
}
