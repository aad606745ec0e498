package valkeynode

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
	"github.com/statecraft-dev/statecraft/test/servers"
)

// In the first seconds of a cluster older servers write down a replica in another
// shard than its primary's, now and then. Whatever is in the files by then, all start.
func TestServersThatAreKilledWhileTheClusterFormsStartAgain(t *testing.T) {
	t.Parallel()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := build(t, version, 5*time.Second, false)
			for _, s := range c.servers {
				s.start(t)
			}
			c.joined(t)
			broken := c.killAsSoonAsBroken()
			for _, s := range c.servers {
				if s.cmd == nil {
					s.start(t)
				}
			}
			c.settled(t)
			t.Logf("%d of %d files were broken", broken, len(c.servers))
		})
	}
}

// killAsSoonAsBroken ends servers whose files say what they would not read, for three
// seconds, and one in any case.
func (c *cluster) killAsSoonAsBroken() (broken int) {
	until := time.Now().Add(3 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(until) && broken < replicated; <-tick.C {
		for _, s := range c.servers {
			if s.cmd == nil || !s.divided() {
				continue
			}
			s.kill()
			if s.divided() { // it may have written another since
				broken++
			}
		}
	}
	c.servers[0].kill()
	return broken
}

// divided says that the server's file has a replica in another shard than its primary.
func (s *server) divided() bool {
	text, err := os.ReadFile(s.nodes())
	if err != nil {
		return false
	}
	_, changed := nodesconf.Repair(string(text))
	return len(changed) > 0
}

var shardOfReplica = regexp.MustCompile(`shard-id=[0-9a-f]{40}( slave )`)

// A file like those is made by hand: older servers do not start with it, and do after
// the repair.
func TestAServerStartsWithAReplicaInAnotherShard(t *testing.T) {
	t.Parallel()
	forEachVersion(t, unnoticed, true, func(t *testing.T, c *cluster) {
		primary, _ := c.mustOwner(t, 0)
		primary.kill()
		text, err := os.ReadFile(primary.nodes())
		c.must(t, err)
		broken := shardOfReplica.ReplaceAllString(string(text), "shard-id="+strings.Repeat("5", 40)+"$1")
		c.must(t, os.WriteFile(primary.nodes(), []byte(broken), 0o600))
		if !primary.divided() {
			t.Fatalf("nothing is broken:\n%s", broken)
		}
		if nodesconf.Fragile(c.version) {
			primary.startBare(t)
			if code := primary.exited(t); code == 0 { // 8.0 says why, 8.1 crashes
				t.Errorf("it ended well\n%s", c.story())
			}
		}
		primary.start(t)
		c.answers(t, primary)
		c.settled(t)
		c.judge(t, primary, itself)
	})
}
