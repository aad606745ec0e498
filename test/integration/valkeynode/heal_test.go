package valkeynode

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
)

// settled waits until all that run agree on everything and all replicas are in sync,
// and helps as the operator would.
func (c *cluster) settled(t testing.TB) {
	t.Helper()
	healed := time.Now()
	c.eventually(t, func() error {
		err := c.unsettled(t.Context())
		if err != nil && time.Since(healed) > wiretest.RaiseAfter {
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

// heal introduces servers anew that have lost each other, which older ones need whose
// addresses were exchanged, ends disputes about who is a replica, and gives an old primary that
// came back as one of nothing its place.
func (c *cluster) heal(t testing.TB) {
	t.Helper()
	nodes := c.look(t.Context())
	for _, by := range nodes {
		var lost []wire.Target
		for _, of := range nodes {
			if by.Server == nil || of.Server == nil || by.Name == of.Name {
				continue
			}
			if p, listed := by.Server.Peer(of.Server.ID); !listed || !p.Linked || p.Addr != of.Addr {
				lost = append(lost, wire.Target{Addr: of.Addr, ID: of.Server.ID})
			}
		}
		if len(lost) > 0 {
			err := c.client.Meet(t.Context(), wire.Target{Addr: by.Addr, ID: by.Server.ID}, lost)
			t.Logf("%s is introduced to %v: %v", by.Name, lost, err)
		}
	}
	if err := wiretest.RaiseEpochs(t.Context(), c.client, nodes); err != nil {
		t.Logf("epochs are not raised: %v", err)
	}
	for shard := range replicated {
		c.demote(t, shard)
	}
}

// demote makes who owns nothing in a shard follow who does. REPLICATE asks for a
// server without keys.
func (c *cluster) demote(t testing.TB, shard int) {
	t.Helper()
	owner, other, err := c.owner(t.Context(), shard)
	if err != nil {
		return
	}
	server, err := c.client.Ask(t.Context(), other.addr())
	if err != nil || server.Self().Follows != "" || server.Self().Slots != "" {
		return
	}
	_, err = other.do(t.Context(), "FLUSHALL")
	err = errors.Join(err, c.client.Replicate(t.Context(), wire.Target{Addr: other.addr(), ID: server.ID}, c.target(t, owner).ID))
	t.Logf("%s came back as a primary of nothing, with %d keys, and now follows %s: %v", other.name, server.Keys, owner.name, err)
}
