package valkeynode

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// tell runs another command of the program beside a server.
func (s *server) tell(t testing.TB, command string, flags ...string) (said string, err error) {
	t.Helper()
	out, err := exec.Command(s.node, append([]string{command, "--addr", s.addr()}, flags...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestAPrimaryHandsOverBeforeItStops(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 2*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		c.rest(t)
		said, err := primary.tell(t, "handover", "--linger", "0s", "--within", timeout.Command.String())
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, said, c.story())
		}
		t.Log(said)
		if n := primary.keys(t.Context()); n != stored {
			t.Errorf("the old primary has %d keys", n)
		}
		owner, _ := c.mustOwner(t, 0)
		if owner != follower {
			t.Errorf("%s owns the slots", owner.name)
		}
		said, err = primary.tell(t, "handover")
		if err != nil || !strings.Contains(said, "nothing to hand over") {
			t.Errorf("a replica: %v: %s", err, said)
		}
		said, err = c.servers[primaries-1].tell(t, "handover")
		if err != nil || !strings.Contains(said, "nobody to hand over to") {
			t.Errorf("a primary alone: %v: %s", err, said)
		}
		c.settled(t)
		c.handBack(t, follower)
	})
}

// handBack hands over again at once: servers that would not vote yet are waited for.
func (c *cluster) handBack(t *testing.T, from *server) {
	t.Helper()
	noted := from.dir + ".noted"
	if said, err := from.tell(t, "ready", "--noted", noted); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	stall, began := harness.StartStall(t), time.Now()
	said, err := from.tell(t, "handover", "--linger", "0s", "--within", timeout.Command.String(), "--noted", noted)
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, said, c.story())
	}
	took := time.Since(began)
	spaced := 2 * c.nodeTimeout
	if old := topology.Older(c.version, "8.1"); old && took <= spaced || !old && took > spaced+stall.Lap() {
		t.Errorf("%s handed back after %s: %s", c.version, took, said)
	}
	c.settled(t)
	c.judge(t, from, replica)
}

func TestReady(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 30*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		c.says(t, primary, true, "a primary")
		c.says(t, follower, true, "in step")
		primary.kill()
		c.says(t, primary, false, "connect")
		c.says(t, follower, false, "lost its primary")
		follower.kill()
		follower.start(t)
		c.answers(t, follower)
		c.says(t, follower, true, "has not found its primary yet")
	})
}

func (c *cluster) says(t *testing.T, s *server, ready bool, words string) {
	t.Helper()
	c.eventually(t, func() error {
		said, err := s.tell(t, "ready")
		if (err == nil) != ready || !strings.Contains(said, words) {
			return fmt.Errorf("%s says %q", s.name, said)
		}
		return nil
	})
}
