package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Failover implements wire.Writer. That it is accepted says only that it will be tried.
func (c *Cluster) Failover(_ context.Context, at wire.Target, mode wire.FailoverMode) error {
	return c.tell(at, func(s *server) error {
		if s.voter() {
			return nil
		}
		primary := s.view[s.self().follows]
		switch {
		case s.primary() || primary == nil:
			return fmt.Errorf("fail over to %s: %w: it is no replica", at.Addr, wire.ErrRefused)
		case mode == wire.Agreed && (primary.state == topology.Failed || !c.finds(s.self().follows, primary.addr)):
			return fmt.Errorf("fail over to %s: %w: its primary is down", at.Addr, wire.ErrRefused)
		case mode == wire.Taken:
			c.promote(s)
		default:
			s.manual = &manual{mode: mode, until: c.now + s.failoverTimeout()}
		}
		return nil
	})
}

func (s *server) failoverTimeout() time.Duration {
	if ms, err := strconv.Atoi(s.settings["cluster-manual-failover-timeout"]); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	return 5 * time.Second
}

// ban is how long a server that was forgotten is not met again.
const ban = time.Minute

// Forget implements wire.Writer, with what the client refuses by itself.
func (c *Cluster) Forget(_ context.Context, at wire.Target, ids ...string) error {
	return c.tell(at, func(s *server) error {
		for _, id := range ids {
			moving := slices.ContainsFunc(s.jobs, func(j topology.SlotJob) bool { return !j.Ended() && (j.Target == id || j.Source == id) })
			if err := c.letGo(s, id, ids, func(gone *peer) bool { return gone.slots != "" || moving }); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetSlotOwner implements wire.Writer, with what the client refuses by itself.
func (c *Cluster) ForgetSlotOwner(_ context.Context, at wire.Target, id string) error {
	return c.tell(at, func(s *server) error {
		return c.letGo(s, id, nil, func(gone *peer) bool { return gone.state == "" || gone.state == topology.Handshake })
	})
}

func (c *Cluster) letGo(s *server, id string, with []string, worth func(gone *peer) bool) error {
	gone := s.view[id]
	if gone == nil {
		return nil
	}
	for follower, p := range s.view {
		if p.follows == id && !slices.Contains(with, follower) || worth(gone) {
			return fmt.Errorf("forget %s at %s: %w", id, s.addr, wire.ErrNotBlank)
		}
	}
	if id == s.id || id == s.self().follows {
		return fmt.Errorf("forget %s at %s: %w", id, s.addr, wire.ErrRefused)
	}
	s.forget(id, c.now+s.banTime(), c.now)
	return nil
}

func (s *server) banTime() time.Duration {
	if sec, err := strconv.Atoi(s.settings["cluster-blacklist-ttl"]); err == nil {
		return time.Duration(sec) * time.Second
	}
	return ban
}

func (s *server) forget(id string, until, now time.Duration) {
	delete(s.met, s.view[id].addr)
	delete(s.view, id)
	s.banned[id], s.dropped[id] = until, now
}

// Reset implements wire.Writer, with what the client refuses by itself.
func (c *Cluster) Reset(_ context.Context, at wire.Target, hard bool) error {
	return c.tell(at, func(s *server) error {
		if s.self().slots != "" || s.primary() && s.keys() > 0 {
			return fmt.Errorf("reset %s: %w", at.Addr, wire.ErrNotBlank)
		}
		if hard {
			c.name(s)
			return nil
		}
		if !s.primary() {
			s.data, s.synced, s.syncing, s.copied = map[int]held{}, false, false, false
			c.created++
			s.history, s.offset = made("history", c.created), 0
		}
		if !s.older("9") { // before, it stays in its shard
			c.created++
			s.shardID = made("shard", c.created)
		}
		epoch := s.self().epoch
		s.open = map[int]topology.OpenSlot{}
		s.alone()
		s.self().epoch = epoch
		return nil
	})
}

// ConfigSet implements wire.Writer.
func (c *Cluster) ConfigSet(_ context.Context, at wire.Target, settings map[string]string) error {
	return c.tell(at, func(s *server) error {
		maps.Copy(s.settings, settings)
		return nil
	})
}
