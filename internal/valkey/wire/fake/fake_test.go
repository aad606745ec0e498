package fake

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// newServers is a cluster of blank servers, and where each is.
func newServers(n int) (*Cluster, []wire.Target) {
	c := New()
	var targets []wire.Target
	for i := range n {
		addr := fmt.Sprintf("10.0.0.%d:6379", i)
		targets = append(targets, wire.Target{Addr: addr, ID: c.Start(addr, "8.1.1")})
	}
	return c, targets
}

func nodes(c *Cluster, targets []wire.Target) (list topology.Nodes) {
	for _, t := range targets {
		s, _ := c.Ask(context.Background(), t.Addr)
		list = append(list, topology.Node{Pod: topology.Pod{Name: t.Addr, Addr: t.Addr}, Server: s})
	}
	return list
}

// In whatever order messages arrive, all come to see the same; and as long as one
// is under way, what was said last is not yet believed by all.
func TestAnyOrderOfMessagesEndsInAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		c, targets := newServers(3)
		for i, at := range targets {
			if err := c.Meet(ctx, at, []wire.Target{targets[(i+1)%3]}); err != nil {
				t.Fatal(err)
			}
		}
		deliver := func(until func() bool) {
			for !until() {
				steps := c.Steps()
				if len(steps) == 0 {
					return
				}
				c.Deliver(rapid.SampledFrom(steps).Draw(t, "step"))
			}
		}
		deliver(func() bool { return false })
		if doubt, met := nodes(c, targets).Met(); !met {
			t.Fatal(doubt)
		}
		if err := errors.Join(c.AddSlots(ctx, targets[0], "0-16383"), c.Replicate(ctx, targets[2], targets[0].ID)); err != nil {
			t.Fatal(err)
		}
		if _, agree := nodes(c, targets).Agree(); agree {
			t.Fatal("all agree on what nobody has told them")
		}
		deliver(func() bool { return false })
		if doubt, agree := nodes(c, targets).Agree(); !agree {
			t.Fatal(doubt)
		}
		for _, n := range nodes(c, targets) {
			if !n.Server.OK || !n.Server.Synced {
				t.Fatalf("%s: %+v", n.Name, n.Server)
			}
		}
	})
}

// Replication copies whoever answers at an address: also one that lost everything.
func TestReplicationDialsAnAddress(t *testing.T) {
	ctx := t.Context()
	c, targets := newServers(2)
	if err := c.Meet(ctx, targets[0], targets[1:2]); err != nil {
		t.Fatal(err)
	}
	c.Settle()
	if err := c.AddSlots(ctx, targets[0], "0-16383"); err != nil {
		t.Fatal(err)
	}
	c.Write(targets[0].Addr, 7)
	c.Settle()
	if err := c.Replicate(ctx, targets[1], targets[0].ID); err != nil {
		t.Fatal(err)
	}
	c.Start(targets[0].Addr, "8.1.1") // another server, under the same address
	c.Settle()
	if s, _ := c.Ask(ctx, targets[1].Addr); !s.Empty || !s.Synced {
		t.Errorf("the replica says %+v", s)
	}
	if err := c.AddSlots(ctx, targets[0], "5"); !errors.Is(err, wire.ErrOtherServer) {
		t.Errorf("the server that is gone was told something: %v", err)
	}
}

func TestAStoppedServerIsSilentAndKeepsWhatItHas(t *testing.T) {
	c, targets := newServers(1)
	c.Write(targets[0].Addr, 1)
	c.Stop(targets[0].Addr)
	if _, err := c.Ask(t.Context(), targets[0].Addr); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
	c.Resume(targets[0].Addr)
	if s, err := c.Ask(t.Context(), targets[0].Addr); err != nil || s.Empty || s.ID != targets[0].ID {
		t.Errorf("%+v, %v", s, err)
	}
}
