package valkeynode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A primary gave itself another epoch, as one does that finds another with its own, and ended
// before anybody heard of it. Its replica was elected for the same epoch; when the primary comes
// back, empty or not, none of the two may be emptied by the other.
//
// The election comes first and the primary is given the epoch of its outcome: one that needs a
// second round takes the epoch after, and the two would not meet.
func TestAPrimaryInAnEpochThatNobodyHeardOf(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 5*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		c.settled(t)
		c.knowsEpoch(t, primary)
		stop := watch(t, follower)
		primary.kill()
		primary.inEpoch(t, c.electedEpoch(t, follower))
		primary.start(t)
		c.answers(t, primary)
		c.settled(t)
		stop()
		c.judge(t, primary, replica)
		if said := primary.said(t); !strings.Contains(said, "in an epoch that is not above its own") {
			t.Errorf("it was not in the same epoch: %s", said)
		}
	})
}

// knowsEpoch waits until all have heard of the epoch that a primary gave itself last: its replica would ask for votes with an
// older one otherwise, and get none.
func (c *cluster) knowsEpoch(t *testing.T, primary *server) {
	t.Helper()
	id := c.target(t, primary).ID
	c.eventually(t, func() error {
		nodes, epoch := c.look(t.Context()), int64(0)
		for _, n := range nodes {
			if n.Server == nil {
				return fmt.Errorf("%s does not answer", n.Name)
			}
			if p, _ := n.Server.Peer(id); n.Server.ID == id {
				epoch = p.Epoch
			}
		}
		for _, n := range nodes {
			if p, _ := n.Server.Peer(id); p.Epoch != epoch {
				return fmt.Errorf("%s knows epoch %d of %s, which is in %d", n.Name, p.Epoch, primary.name, epoch)
			}
		}
		return nil
	})
}

// electedEpoch waits until the others have elected a server in the place of the first primary.
func (c *cluster) electedEpoch(t *testing.T, elected *server) (epoch int64) {
	t.Helper()
	c.eventually(t, func() error {
		owner, _, err := c.owner(t.Context(), 0)
		if err != nil || owner != elected {
			return fmt.Errorf("%s is not the primary: %w", elected.name, err)
		}
		for _, n := range c.look(t.Context()) {
			if n.Name == elected.name && n.Server != nil {
				epoch = n.Server.Epoch
			}
		}
		return nil
	})
	return epoch
}

// inEpoch writes another epoch into the memory of a server that does not run.
func (s *server) inEpoch(t *testing.T, epoch int64) {
	t.Helper()
	file := filepath.Join(s.dir, "nodes.conf")
	text, err := os.ReadFile(file)
	s.must(t, err)
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "myself,master") })
	fields := strings.Fields(lines[i])
	fields[6] = fmt.Sprint(epoch)
	lines[i] = strings.Join(fields, " ")
	s.must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
}
