package fake

import (
	"context"
	"crypto/sha1" //nolint:gosec // makes up IDs of the right length, nothing else
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster is a set of servers that may know each other.
type Cluster struct {
	mu      sync.Mutex
	servers map[string]*server // by address
	born    int
}

var (
	_ wire.Reader = (*Cluster)(nil)
	_ wire.Writer = (*Cluster)(nil)
)

// New returns a cluster without servers.
func New() *Cluster { return &Cluster{servers: map[string]*server{}} }

// configured is the node timeout that a server starts with, in milliseconds.
const configured = 5000

// Start brings a blank server up at an address and returns its ID. One that was
// there is gone with all it held.
func (c *Cluster) Start(addr, version string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.born++
	s := &server{id: made("server", c.born), shardID: made("shard", c.born), addr: addr, version: version, timeout: configured, met: map[string]bool{}}
	s.view = map[string]*peer{s.id: {addr: addr, shardID: s.shardID}}
	c.servers[addr] = s
	return s.id
}

// Stop takes the server at an address out of reach; Resume brings it back as it was.
func (c *Cluster) Stop(addr string) { c.set(addr, func(s *server) { s.down = true }) }

// Resume brings a stopped server back into reach.
func (c *Cluster) Resume(addr string) { c.set(addr, func(s *server) { s.down = false }) }

// Write puts keys into the server at an address.
func (c *Cluster) Write(addr string, keys int) { c.set(addr, func(s *server) { s.keys += keys }) }

func (c *Cluster) set(addr string, change func(*server)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.servers[addr]; s != nil {
		change(s)
	}
}

// Ask implements wire.Reader.
func (c *Cluster) Ask(_ context.Context, addr string) (*topology.Server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.up(addr) {
		return nil, fmt.Errorf("ask %s: %w", addr, wire.ErrUnreachable)
	}
	return c.servers[addr].answer(c.up), nil
}

func (c *Cluster) up(addr string) bool { return c.servers[addr] != nil && !c.servers[addr].down }

// at finds the server that is meant, and nobody else.
func (c *Cluster) at(t wire.Target) (*server, error) {
	switch s := c.servers[t.Addr]; {
	case !c.up(t.Addr):
		return nil, fmt.Errorf("tell %s: %w", t.Addr, wire.ErrUnreachable)
	case s.id != t.ID:
		return nil, fmt.Errorf("tell %s: %w", t.Addr, wire.ErrOtherServer)
	default:
		return s, nil
	}
}

// addresses are those of all servers, in order, so that nothing depends on chance.
func (c *Cluster) addresses() []string { return slices.Sorted(maps.Keys(c.servers)) }

func made(what string, n int) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "%s %d", what, n))) //nolint:gosec // see above
}
