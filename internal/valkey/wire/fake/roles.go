package fake

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Failover implements wire.Writer.
func (c *Cluster) Failover(_ context.Context, at wire.Target, _ wire.FailoverMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil {
		return err
	}
	return fmt.Errorf("fail over to %s: %w", s.addr, wire.ErrRefused)
}

// Forget implements wire.Writer.
func (c *Cluster) Forget(_ context.Context, at wire.Target, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil {
		return err
	}
	delete(s.view, id)
	return nil
}

// Reset implements wire.Writer.
func (c *Cluster) Reset(_ context.Context, at wire.Target, _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(at)
	if err != nil {
		return err
	}
	s.view = map[string]*peer{s.id: {addr: s.addr, shardID: s.shardID}}
	return nil
}

// ConfigSet implements wire.Writer.
func (c *Cluster) ConfigSet(_ context.Context, at wire.Target, _ map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.at(at)
	return err
}
