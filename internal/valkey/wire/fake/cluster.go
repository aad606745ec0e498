package fake

import (
	"context"
	"crypto/sha1" //nolint:gosec // makes up IDs of the right length, nothing else
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster is a set of servers that may know each other.
type Cluster struct {
	mu      sync.Mutex
	servers map[string]*server // by address
	created int
	now     time.Duration // since the beginning; only Advance moves it
	written map[int]int64 // per slot the last write that was acknowledged

	configured map[string]string // settings that a server starts with
	secrets    *access.Secrets   // in its files; nil is none
	material   access.Material
}

var (
	_ wire.Reader  = (*Cluster)(nil)
	_ wire.Writer  = (*Cluster)(nil)
	_ wire.Mover   = (*Cluster)(nil)
	_ wire.Watcher = (*Cluster)(nil)
)

// New returns a cluster without servers.
func New() *Cluster {
	return &Cluster{servers: map[string]*server{}, written: map[int]int64{}, configured: map[string]string{nodeTimeout: "5000"}}
}

// Configure sets what servers that are started from now on start with.
func (c *Cluster) Configure(setting, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configured[setting] = value
}

// Start brings a blank server up at an address and returns its ID. One that was
// there is gone with all it held.
func (c *Cluster) Start(addr, version string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &server{addr: addr, version: version}
	c.name(s)
	s.restart(c.configured)
	c.readFiles(s)
	if was := c.servers[addr]; was != nil {
		was.hangUp()
	}
	c.servers[addr] = s
	return s.id
}

// name makes a server one that nobody knows and that knows nobody.
func (c *Cluster) name(s *server) {
	c.created++
	s.id, s.shardID, s.history = made("server", c.created), made("shard", c.created), made("history", c.created)
	s.data, s.open = map[int]held{}, map[int]topology.OpenSlot{}
	s.epoch, s.offset, s.synced, s.copied, s.earlier = 0, 0, false, false, earlier{}
	s.alone()
}

// Bear lets the server at an address have been started in the pod with this mark.
func (c *Cluster) Bear(addr, mark string) { c.set(addr, func(s *server) { s.mark = mark }) }

// Stop takes the server at an address out of reach; Resume brings it back as it was.
func (c *Cluster) Stop(addr string) { c.set(addr, func(s *server) { s.down = true }) }

// Resume brings a stopped server back into reach.
func (c *Cluster) Resume(addr string) { c.set(addr, func(s *server) { s.down = false }) }

// Answer makes a server answer everything with an error, such as wire.ErrLoading or
// wire.ErrDenied; nil lets it answer again.
func (c *Cluster) Answer(addr string, err error) { c.set(addr, func(s *server) { s.answers = err }) }

// TellToStop lets the pod of a server have been told to stop.
func (c *Cluster) TellToStop(addr string) { c.set(addr, func(s *server) { s.stopping = true }) }

// Stopping says that it was.
func (c *Cluster) Stopping(_ context.Context, addr string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.up(addr) {
		return false, fmt.Errorf("ask %s: %w", addr, wire.ErrUnreachable)
	}
	return c.servers[addr].stopping, nil
}

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
	s := c.servers[addr]
	switch {
	case !c.up(addr) && s != nil && s.over:
		return nil, fmt.Errorf("ask %s: %w: %w", addr, wire.ErrUnreachable, wire.ErrConnectionRefused)
	case !c.up(addr):
		return nil, fmt.Errorf("ask %s: %w", addr, wire.ErrUnreachable)
	case s.answers != nil:
		return nil, fmt.Errorf("ask %s: %w", addr, s.answers)
	}
	return c.look(s), nil
}

func (c *Cluster) up(addr string) bool { return c.servers[addr] != nil && !c.servers[addr].down }

// finds says that the server called id answers at the address.
func (c *Cluster) finds(id, addr string) bool { return c.up(addr) && c.servers[addr].id == id }

// at finds the server that is meant, and nobody else.
func (c *Cluster) at(t wire.Target) (*server, error) {
	switch s := c.servers[t.Addr]; {
	case !c.up(t.Addr):
		return nil, fmt.Errorf("tell %s: %w", t.Addr, wire.ErrUnreachable)
	case s.answers != nil:
		return nil, fmt.Errorf("tell %s: %w", t.Addr, s.answers)
	case s.id != t.ID || t.Mark != "" && s.mark != t.Mark:
		return nil, fmt.Errorf("tell %s: %w", t.Addr, wire.ErrOtherServer)
	default:
		return s, nil
	}
}

// tell finds the server that is meant and lets it carry something out.
func (c *Cluster) tell(t wire.Target, do func(*server) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.at(t)
	if err != nil {
		return err
	}
	return do(s)
}

// addresses are those of all servers, in order, so that nothing depends on chance.
func (c *Cluster) addresses() []string { return slices.Sorted(maps.Keys(c.servers)) }

func made(what string, n int) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "%s %d", what, n))) //nolint:gosec // see above
}
