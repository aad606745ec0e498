package valkeynode

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// forEachVersion runs a test on a cluster of every version.
func forEachVersion(t *testing.T, nodeTimeout time.Duration, persistent bool, try func(t *testing.T, c *cluster)) {
	t.Helper()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := build(t, version, nodeTimeout, persistent)
			c.form(t)
			try(t, c)
		})
	}
}

// A primary that keeps nothing on disk loses everything with its process. It must be
// back long before anybody notices that it was gone, and as a replica.
func TestAPrimaryWithoutDiskComesBackAsAReplica(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 5*time.Second, false, func(t *testing.T, c *cluster) {
		for i := range harness.ByLevel(3, 10) {
			for _, delay := range []time.Duration{0, 2 * time.Second} {
				t.Run(fmt.Sprintf("time %d, after %s", i+1, delay), func(t *testing.T) {
					primary, follower := c.mustOwner(t, 0)
					stop := watch(t, follower)
					primary.kill()
					<-time.After(delay) // as a container that is restarted with a back-off
					began := time.Now()
					primary.start(t)
					c.answers(t, primary)
					took := time.Since(began)
					c.settled(t)
					stop()
					c.judge(t, primary, replica)
					t.Logf("open after %s", took.Round(time.Millisecond))
					c.rest(t)
				})
			}
		}
	})
}

// rest waits until servers that vote once in a while for a shard may vote again.
func (c *cluster) rest(t testing.TB) {
	t.Helper()
	if after, _ := c.look(t.Context()).Spacing(); after > 0 {
		<-time.After(after)
	}
}

// The same without the program that is tried: what the other tests say is worth
// something, because they can see a replica that is emptied.
func TestWithoutTheGuardTheReplicaIsEmptied(t *testing.T) {
	t.Parallel()
	forEachVersion(t, unnoticed, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		primary.kill()
		primary.startBare(t)
		c.eventually(t, func() error {
			if n := follower.keys(t.Context()); n != 0 {
				return fmt.Errorf("the replica still has %d keys", n)
			}
			return nil
		})
	})
}

// Where nobody can say what the replicas hold, the server does not start, until they
// are seen to hold nothing.
func TestAPrimaryDoesNotStartOverWhatReplicasMayHold(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 2*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		for _, s := range c.servers {
			s.kill()
		}
		primary.startWith(t, "--patience", "1s")
		if code := primary.exited(t); code != topology.ExitDataMissing {
			t.Errorf("ended with %d\n%s", code, c.story())
		}
		if said := primary.said(t); !strings.Contains(said, "may hold the data") {
			t.Errorf("said %q", said)
		}
		// The replica is back, but with nothing: there is nothing to lose any more.
		follower.start(t)
		c.answers(t, follower)
		primary.startWith(t, "--patience", timeout.Command.String())
		c.answers(t, primary)
	})
}

// Primary and replica of a shard end at once and are started again where they were, soon enough for nobody to notice. The
// primary knew of slots and keys and finds none: it does not start, and says so by its exit code. Without the note of its
// probe it would serve nothing in their place, and be Ready.
func TestAShardThatRestartsEmptyIsTold(t *testing.T) {
	t.Parallel()
	forEachVersion(t, unnoticed, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		held, formed := primary.dir+".held", primary.dir+".formed"
		flags := []string{"--held", held, "--formed", formed}
		c.must(t, os.WriteFile(formed, nil, 0o600))
		c.says(t, primary, true, "a primary", flags...)
		primary.kill()
		follower.kill()
		follower.start(t)
		c.answers(t, follower)
		c.says(t, follower, false, "has no copy", "--formed", formed)
		primary.startWith(t, "--held", held)
		if code := primary.exited(t); code != topology.ExitDataMissing {
			t.Errorf("ended with %d\n%s", code, c.story())
		}
		if said := primary.said(t); !strings.Contains(said, "held keys when it last ran") {
			t.Errorf("said %q", said)
		}
		c.says(t, primary, false, "connect", flags...)
		primary.start(t)
		c.says(t, primary, true, "a primary", "--formed", formed)
	})
}

// A server whose keys were deleted by clients has lost nothing when it begins empty.
func TestAPrimaryWhoseKeysWereDeletedStartsEmpty(t *testing.T) {
	t.Parallel()
	forEachVersion(t, unnoticed, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		held := primary.dir + ".held"
		c.says(t, primary, true, "a primary", "--held", held)
		_, err := primary.do(t.Context(), "FLUSHALL")
		c.must(t, err)
		c.says(t, primary, true, "a primary", "--held", held)
		primary.kill()
		follower.kill()
		follower.start(t)
		c.answers(t, follower)
		primary.startWith(t, "--held", held)
		c.answers(t, primary)
	})
}
