package valkeynode

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
)

const (
	kept, removed, unloadable = "kept", "removed", "unloadable" // nodes.conf
	empty                     = "empty"                         // data, or kept
	same, fresh, anothers     = "same", "new", "another's"      // address

	itself, replica, either = "itself", "the replica", "either"
)

// slow is how many times longer than a process that only looks at the clock those may be kept
// waiting that start a server: there are several, one after the other.
const slow = 10

// matrix is what becomes of a primary that is killed and started again at once, and
// who owns its slots in the end. The data is there afterwards in every row, and no
// replica is emptied at any time.
var matrix = []struct {
	nodes, data, address string
	owner                string
}{
	{kept, kept, same, itself},
	{kept, kept, fresh, itself},
	// It waits until the replicas of that other one have found another primary; its
	// own have as well by then, or it is back just in time.
	{kept, kept, anothers, either},
	{kept, empty, same, replica},
	{kept, empty, fresh, replica},
	{kept, empty, anothers, replica},
	// Without memory it is a stranger, whatever it holds: the replica takes over.
	{removed, kept, same, replica},
	{removed, kept, fresh, replica},
	{removed, kept, anothers, replica},
	{removed, empty, same, replica},
	{removed, empty, fresh, replica},
	{removed, empty, anothers, replica},
	{unloadable, kept, same, replica},
	{unloadable, kept, fresh, replica},
	{unloadable, kept, anothers, replica},
	{unloadable, empty, same, replica},
	{unloadable, empty, fresh, replica},
	{unloadable, empty, anothers, replica},
}

func TestNoRestartEmptiesAReplica(t *testing.T) {
	t.Parallel()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := build(t, version, 2*time.Second, true)
			c.form(t)
			for _, row := range matrix {
				t.Run(fmt.Sprintf("nodes.conf %s, data %s, address %s", row.nodes, row.data, row.address), func(t *testing.T) {
					c.restart(t, row.nodes, row.data, row.address, row.owner)
				})
			}
		})
	}
}

// restart tries one row, and brings the cluster back to where it was.
func (c *cluster) restart(t *testing.T, nodes, data, address, owner string) {
	primary, follower := c.mustOwner(t, 0)
	displaced, watched := c.mustOwner(t, 1)
	before := c.target(t, primary)
	stop := watch(t, follower, watched)
	stall, began := harness.StartStall(t), time.Now()
	primary.kill()
	switch nodes {
	case removed:
		c.must(t, os.Remove(primary.nodes()))
	case unloadable:
		c.must(t, os.WriteFile(primary.nodes(), []byte("something else\n"), 0o600))
	}
	if data == empty {
		primary.loseData(t)
	}
	was := primary.ip
	switch address {
	case fresh:
		primary.ip = c.newIP()
	case anothers:
		displaced.kill()
		primary.ip = displaced.ip
	}
	primary.start(t)
	c.answers(t, primary)
	took, stalled := time.Since(began), stall.Lap()
	if address == anothers {
		displaced.ip = was
		displaced.start(t)
		c.answers(t, displaced)
	}
	if nodes != kept {
		c.adopt(t, primary, before)
	}
	c.settled(t)
	stop()
	if owner == itself && took > c.nodeTimeout && took < c.nodeTimeout+slow*stalled {
		owner = either // the machine kept it away for so long that its replica was right to take over
	}
	c.judge(t, primary, owner)
	t.Logf("open after %s, stalled for %s: %s", took.Round(time.Millisecond), stalled, primary.said(t))
}

func (c *cluster) answers(t *testing.T, s *server) {
	t.Helper()
	c.eventually(t, func() error { _, err := c.client.Ask(t.Context(), s.addr()); return err })
}

// judge compares who owns the slots, and whether all data is still there.
func (c *cluster) judge(t *testing.T, restarted *server, want string) {
	t.Helper()
	for shard := range replicated {
		owner, other := c.mustOwner(t, shard)
		for _, s := range []*server{owner, other} {
			if n := s.keys(t.Context()); n != stored {
				t.Errorf("%s of shard %d has %d of %d keys\n%s", s.name, shard, n, stored, c.story())
			}
		}
		if shard == 0 && want != either && (owner == restarted) != (want == itself) {
			t.Errorf("shard 0 is owned by %s, not by %s\n%s", owner.name, want, c.story())
		}
	}
}

// adopt does what the operator does with a server that lost its name: it is emptied,
// becomes a replica of its shard, and the old name is forgotten.
func (c *cluster) adopt(t *testing.T, s *server, old wire.Target) {
	t.Helper()
	var primary wire.Target
	c.eventually(t, func() error {
		owner, _, err := c.owner(t.Context(), 0)
		if err == nil && owner == s {
			return fmt.Errorf("%s owns the slots under a new name", s.name)
		}
		if err == nil {
			primary = c.target(t, owner)
		}
		return err
	})
	_, err := s.do(t.Context(), "FLUSHALL")
	c.must(t, err)
	_, err = s.do(t.Context(), "CLUSTER", "RESET", "HARD")
	c.must(t, err)
	for _, o := range c.servers {
		if o != s && o.cmd != nil {
			c.eventually(t, func() error { return c.client.Forget(t.Context(), c.target(t, o), old.ID) })
		}
	}
	me := c.target(t, s)
	if me.ID == old.ID {
		t.Errorf("%s has its old name", s.name)
	}
	c.must(t, c.client.Meet(t.Context(), me, []wire.Target{primary}))
	c.eventually(t, func() error { return c.client.Replicate(t.Context(), me, primary.ID) })
}

// watch looks all the time whether one of these is emptied, until it is stopped.
func watch(t *testing.T, watched ...*server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string)
	addrs := make([]server, 0, len(watched)) // as they are now: a place may move
	for _, s := range watched {
		addrs = append(addrs, *s)
	}
	go func() {
		var seen []string
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			for i := range addrs {
				if n := addrs[i].keys(ctx); n >= 0 && n < stored {
					seen = append(seen, fmt.Sprintf("%s had %d of %d keys", addrs[i].name, n, stored))
				}
			}
			<-tick.C
		}
		done <- strings.Join(seen, "\n")
	}()
	return func() {
		cancel()
		if seen := <-done; seen != "" {
			t.Errorf("a replica was emptied:\n%.500s", seen)
		}
	}
}
