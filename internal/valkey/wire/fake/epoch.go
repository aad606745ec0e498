package fake

import (
	"context"
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// RaiseEpoch implements wire.Writer, with what the client refuses by itself.
func (c *Cluster) RaiseEpoch(_ context.Context, at wire.Target, above int64) error {
	return c.tell(at, func(s *server) error {
		self := s.self()
		moves := len(s.open) > 0 || slices.ContainsFunc(s.jobs, func(j topology.SlotJob) bool { return !j.Ended() })
		switch {
		case self.epoch > above:
			return nil
		case !s.primary() || moves || s.paused > c.now || s.older("8.1"): // before, it does not say that it waits for nobody
			return fmt.Errorf("raise the epoch of %s: %w", at.Addr, wire.ErrRefused)
		}
		highest := s.epoch
		for _, p := range s.view {
			highest = max(highest, p.epoch)
		}
		if self.epoch < highest || self.epoch == 0 {
			s.epoch = highest + 1
			s.edit(s.id).epoch = s.epoch
		}
		return nil
	})
}

// MistakeForPrimary lets the server at an address take another, a replica, for a primary in an epoch of its
// own: it was one before, and a message from then came last.
func (c *Cluster) MistakeForPrimary(addr, id string) {
	c.set(addr, func(s *server) {
		if s.view[id] == nil {
			return
		}
		s.epoch++
		p := s.edit(id)
		p.follows, p.slots, p.epoch = "", "", s.epoch
	})
}
