package fake

import (
	"context"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Meet implements wire.Writer. The server shakes hands anew even with one that it
// knows: that is how it makes itself seen.
func (c *Cluster) Meet(_ context.Context, at wire.Target, addrs []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil {
		return err
	}
	for _, addr := range addrs {
		s.met[addr] = true
	}
	return nil
}

// AddSlots implements wire.Writer.
func (c *Cluster) AddSlots(_ context.Context, at wire.Target, slots topology.Slots) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil {
		return err
	}
	if s.self().follows != "" {
		return fmt.Errorf("add slots to %s: %w", at.Addr, wire.ErrNotBlank)
	}
	for id, p := range s.view {
		if id != s.id && p.slots.Overlaps(slots) {
			return fmt.Errorf("add slots to %s: %w", at.Addr, wire.ErrNotBlank)
		}
	}
	s.self().slots = s.self().slots.With(slots)
	return nil
}

// Replicate implements wire.Writer.
func (c *Cluster) Replicate(_ context.Context, at wire.Target, primary string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil || s.self().follows == primary {
		return err
	}
	to := s.view[primary]
	self := s.self()
	switch {
	case to == nil:
		return fmt.Errorf("replicate %s: %w", primary, wire.ErrUnknownPeer)
	case primary == s.id || to.follows != "":
		return fmt.Errorf("replicate %s: %w: only a primary can be followed", primary, wire.ErrRefused)
	case self.follows == "" && (self.slots != "" || s.keys > 0):
		return fmt.Errorf("replicate %s: %w", primary, wire.ErrNotBlank)
	}
	self.follows, self.shardID = primary, to.shardID
	s.shardID, s.synced = to.shardID, false
	return nil
}

// SetNodeTimeout implements wire.Writer.
func (c *Cluster) SetNodeTimeout(_ context.Context, at wire.Target, timeout time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err == nil {
		s.timeout = int(timeout.Milliseconds())
	}
	return err
}
