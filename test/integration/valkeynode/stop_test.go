package valkeynode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// program is another command of the program, while it runs.
type program struct {
	*exec.Cmd
	mu  sync.Mutex
	out strings.Builder
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *program) wait() error { return p.Wait() }

// begin starts another command of the program beside a server.
func (s *server) begin(t testing.TB, command string, flags ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(s.node, append([]string{command, "--addr", s.addr()}, flags...)...)}
	p.Stdout, p.Stderr = p, p
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// says waits until the program has said something.
func (p *program) says(t testing.TB, words string) {
	t.Helper()
	harness.Eventually(t, timeout.Wait, pollEvery, func() error {
		if said := p.text(); !strings.Contains(said, words) {
			return fmt.Errorf("it said %q", said)
		}
		return nil
	})
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
		if err != nil || !strings.Contains(said, "no replica to hand over to") {
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

// Once a cluster was formed, a server without a copy of its shard is not ready, whether or not a manager runs.
func TestReadyInAFormedCluster(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 30*time.Second, false, func(t *testing.T, c *cluster) {
		formed := []string{"--formed", filepath.Join(t.TempDir(), "formed")}
		primary, follower := c.mustOwner(t, 0)
		newborn := c.addServer(t)
		c.says(t, newborn, true, "a primary", formed...)
		c.must(t, os.WriteFile(formed[1], nil, 0o600))
		c.says(t, newborn, false, "owns no slots", formed...)
		c.says(t, primary, true, "a primary", formed...)
		c.says(t, follower, true, "in step", formed...)
		primary.kill()
		follower.kill()
		follower.start(t)
		c.answers(t, follower)
		c.says(t, follower, false, "has no copy", formed...)
	})
}

// addServer starts a server that no other has met.
func (c *cluster) addServer(t *testing.T) *server {
	t.Helper()
	s := &server{cluster: c, name: "new", ip: c.newIP(), dir: filepath.Join(t.TempDir(), "new")}
	c.must(t, os.Mkdir(s.dir, 0o700))
	t.Cleanup(s.kill)
	s.start(t)
	c.answers(t, s)
	return s
}

// A primary whose data is in memory only waits for a copy before it stops, and hands over to the replica that
// comes; if all others stop as well, no copy will come.
func TestAPrimaryWaitsForACopyBeforeItStops(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 2*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		follower.kill()
		flags := []string{"--linger", "0s", "--within", timeout.Command.String(), "--copy-within", timeout.Wait.String()}
		handover := primary.begin(t, "handover", flags...)
		handover.says(t, "waiting up to")
		follower.start(t)
		if err := handover.wait(); err != nil {
			t.Fatalf("%v: %s\n%s", err, handover.text(), c.story())
		}
		if owner, _ := c.mustOwner(t, 0); owner != follower || follower.keys(t.Context()) != stored {
			t.Errorf("%s owns the slots; its replica has %d keys", owner.name, follower.keys(t.Context()))
		}
		c.removedTogether(t, follower, primary, flags)
	})
}

// removedTogether lets all pods be told to stop at once, as when a cluster is deleted.
func (c *cluster) removedTogether(t *testing.T, owner, follower *server, flags []string) {
	t.Helper()
	c.settled(t)
	follower.kill()
	alone := owner.begin(t, "handover", flags...)
	alone.says(t, "waiting up to")
	var all []*program
	for _, s := range c.servers {
		if s != owner && s != follower && s.cmd != nil {
			all = append(all, s.begin(t, "handover", flags...))
		}
	}
	began := time.Now()
	for _, p := range append(all, alone) {
		if err := p.wait(); err != nil {
			t.Errorf("%v: %s", err, p.text())
		}
	}
	t.Logf("all ended after %s", time.Since(began))
}

func (c *cluster) says(t *testing.T, s *server, ready bool, words string, flags ...string) {
	t.Helper()
	c.eventually(t, func() error {
		said, err := s.tell(t, "ready", flags...)
		if (err == nil) != ready || !strings.Contains(said, words) {
			return fmt.Errorf("%s says %q", s.name, said)
		}
		return nil
	})
}
