package fake

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Kill ends the process of the server at an address: unlike one that is stopped it refuses connections, and has
// closed those that there were. Restart brings it back.
func (c *Cluster) Kill(addr string) {
	c.set(addr, func(s *server) {
		s.down, s.over = true, true
		s.hangUp()
		for _, r := range c.servers {
			if !r.primary() && r.primaryAddr() == addr {
				r.synced, r.syncing = false, false
			}
		}
	})
}

// hangUp closes the connections to the server.
func (s *server) hangUp() {
	if s.hangsUp != nil {
		close(s.hangsUp)
		s.hangsUp = nil
	}
}

// Watch implements wire.Watcher.
func (c *Cluster) Watch(ctx context.Context, addr string) error {
	var ends chan struct{}
	c.mu.Lock()
	if c.up(addr) {
		s := c.servers[addr]
		if s.hangsUp == nil {
			s.hangsUp = make(chan struct{})
		}
		ends = s.hangsUp
	}
	c.mu.Unlock()
	if ends != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-ends:
		}
	}
	return fmt.Errorf("watch %s: %w", addr, wire.ErrUnreachable)
}
