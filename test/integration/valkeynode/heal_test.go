package valkeynode

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// healEvery is how long the servers are left alone before they are helped.
const healEvery = 2 * time.Second

// settled waits until all that run agree on everything and all replicas are in sync,
// and helps as the operator would.
func (c *cluster) settled(t testing.TB) {
	t.Helper()
	healed := time.Now()
	c.eventually(t, func() error {
		err := c.unsettled(t.Context())
		if err != nil && time.Since(healed) > healEvery {
			c.heal(t)
			healed = time.Now()
		}
		return err
	})
}

func (c *cluster) unsettled(ctx context.Context) error {
	nodes := c.look(ctx)
	if doubt, agree := nodes.Agree(); !agree {
		return fmt.Errorf("no agreement: %s", doubt)
	}
	for _, n := range nodes {
		if self := n.Server.Self(); self.Follows == "" && self.Slots == "" {
			return fmt.Errorf("%s is a primary of nothing", n.Name)
		}
	}
	if n, found := nodes.Unsynced(); found {
		return fmt.Errorf("%s is not in sync", n.Name)
	}
	return nil
}

// heal introduces all to each other anew, which servers need whose addresses were
// exchanged, and gives an old primary that came back as one of nothing its place.
func (c *cluster) heal(t testing.TB) {
	t.Helper()
	var addrs []string
	for _, s := range c.servers {
		addrs = append(addrs, s.addr())
	}
	for _, s := range c.servers {
		server, err := c.client.Ask(t.Context(), s.addr())
		if err != nil {
			continue
		}
		_ = c.client.Meet(t.Context(), wire.Target{Addr: s.addr(), ID: server.ID}, addrs)
	}
	for shard := range replicated {
		owner, other, err := c.owner(t.Context(), shard)
		if err != nil {
			continue
		}
		server, err := c.client.Ask(t.Context(), other.addr())
		if err == nil && server.Self().Follows == "" && server.Self().Slots == "" {
			t.Logf("%s came back as a primary of nothing", other.name)
			_, _ = other.do(t.Context(), "FLUSHALL")
			_ = c.client.Replicate(t.Context(), wire.Target{Addr: other.addr(), ID: server.ID}, c.target(t, owner).ID)
		}
	}
}
