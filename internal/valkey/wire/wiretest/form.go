package wiretest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Form makes three shards of six blank servers, each of a primary and the replica that
// comes after it, and waits until all agree and have heard of all epochs.
func Form(ctx context.Context, c Cluster) error {
	targets := make([]wire.Target, len(c.Addrs))
	for i, addr := range c.Addrs {
		server, err := c.Ask(ctx, addr)
		if err != nil {
			return err
		}
		targets[i] = wire.Target{Addr: addr, ID: server.ID}
	}
	for i, at := range targets {
		var others []wire.Target
		for _, step := range []int{1, 2, 4} {
			others = append(others, targets[(i+step)%len(targets)])
		}
		if err := c.Meet(ctx, at, others); err != nil {
			return err
		}
	}
	if err := c.settled(ctx, topology.Nodes.Met); err != nil {
		return err
	}
	if err := c.divide(ctx, targets); err != nil {
		return err
	}
	return c.settled(ctx, formed)
}

// formed says whether all serve and agree, and have heard of all epochs.
func formed(n topology.Nodes) (doubt string, all bool) {
	if m, unsynced := n.Unsynced(); unsynced {
		return m.Name + " has no link to its primary", false
	}
	for _, m := range n {
		if m.Server != nil && !m.Server.OK {
			return m.Name + " does not serve", false
		}
	}
	if doubt, agree := n.Agree(); !agree {
		return doubt, false
	}
	return heardOfEpochs(n)
}

// heardOfEpochs says whether primaries have epochs of their own, which all others know: new primaries begin in the same one and
// leave it one by one. A replica that missed the last one would ask for votes with an older one, and get none.
func heardOfEpochs(nodes topology.Nodes) (doubt string, all bool) {
	primaries := map[int64]string{}
	for _, of := range nodes {
		self := of.Server.Self()
		if self.Follows != "" {
			continue
		}
		if other, taken := primaries[self.Epoch]; taken {
			return fmt.Sprintf("%s and %s are both in epoch %d", other, of.Name, self.Epoch), false
		}
		primaries[self.Epoch] = of.Name
		for _, by := range nodes {
			if p, _ := by.Server.Peer(self.ID); p.Epoch != self.Epoch {
				return fmt.Sprintf("%s knows epoch %d of %s, which is in %d", by.Name, p.Epoch, of.Name, self.Epoch), false
			}
		}
	}
	return "", true
}

// divide gives every second server slots, and makes the one after it its replica.
func (c Cluster) divide(ctx context.Context, targets []wire.Target) error {
	for i := range 3 {
		if err := c.AddSlots(ctx, targets[2*i], topology.Share(i, 3)); err != nil {
			return err
		}
		if err := c.Replicate(ctx, targets[2*i+1], targets[2*i].ID); err != nil {
			return err
		}
	}
	return nil
}

// Nodes is what every server says now. Servers 0 and 1 are shard 0, and so on.
func (c Cluster) Nodes(ctx context.Context) (nodes topology.Nodes) {
	for i, addr := range c.Addrs {
		server, _ := c.Ask(ctx, addr)
		nodes = append(nodes, topology.Node{
			Pod:    topology.Pod{Name: strconv.Itoa(i), UID: strconv.Itoa(i), Shard: i / 2, Ordinal: i % 2, Addr: addr},
			Server: server,
		})
	}
	return nodes
}

// settled lets the servers talk until all is as it should be, and helps those that cannot come to agree.
func (c Cluster) settled(ctx context.Context, judge func(topology.Nodes) (string, bool)) error {
	var doubt string
	var sound bool
	raised := time.Now()
	done := func() bool {
		nodes := c.Nodes(ctx)
		if doubt, sound = judge(nodes); !sound && time.Since(raised) > RaiseAfter {
			_ = RaiseEpochs(ctx, c, nodes) // if it was refused there is a next time
			raised = time.Now()
		}
		return sound
	}
	if err := c.Until(ctx, done); err != nil {
		return err
	}
	if !sound && !done() { // once is enough: on a busy machine links come and go
		return fmt.Errorf("%w: %s", script.ErrStill, doubt)
	}
	return nil
}
