package valkeynode

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Two primaries come back together, as those of one machine do when it has power again, and have nothing. A third is gone
// as well. Nobody can be elected without them, so each sees to it that its replica, which has everything, is the primary. What
// they wrote down themselves, when they were replicas once, is not taken for the data.
func TestPrimariesThatAreTheMajorityComeBackTogether(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 2*time.Second, false, func(t *testing.T, c *cluster) {
		var primaries []*server
		for shard := range replicated {
			_, follower := c.mustOwner(t, shard)
			c.handOver(t, shard, follower)
			primaries = append(primaries, follower)
		}
		for _, p := range primaries {
			if _, err := os.Stat(p.dir + "/dump.rdb"); err != nil {
				t.Errorf("%s wrote nothing down, so this proves less than it should: %v", p.name, err)
			}
			p.kill()
		}
		third := c.servers[replicated] // without a replica, and without keys
		third.kill()
		began := time.Now()
		for _, p := range primaries {
			p.start(t)
		}
		var said []string
		for _, p := range primaries {
			c.answers(t, p)
			said = append(said, p.said(t))
		}
		// With the vote of the first the second may be elected after all.
		if !strings.Contains(strings.Join(said, ""), string(wire.Taken)) {
			t.Errorf("nobody needed it: %q", said)
		}
		t.Logf("open after %s", time.Since(began).Round(time.Millisecond))
		third.start(t)
		c.settled(t)
		for shard, p := range primaries {
			if owner, _ := c.mustOwner(t, shard); owner == p {
				t.Errorf("shard %d is owned by %s, which had nothing\n%s", shard, p.name, c.story())
			}
		}
		c.judge(t, primaries[0], replica)
	})
}

// handOver makes another server the primary of a shard.
func (c *cluster) handOver(t *testing.T, shard int, to *server) {
	t.Helper()
	c.eventually(t, func() error {
		return c.client.Failover(t.Context(), c.target(t, to), wire.Agreed)
	})
	c.eventually(t, func() error {
		if owner, _, err := c.owner(t.Context(), shard); err != nil || owner != to {
			return fmt.Errorf("%s is not the primary: %w", to.name, err)
		}
		return nil
	})
	c.settled(t)
	c.rest(t)
}
