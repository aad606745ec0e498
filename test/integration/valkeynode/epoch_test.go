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
// before anybody heard of it. Its replica is elected for the same epoch; when the primary comes
// back, empty or not, none of the two may be emptied by the other.
func TestAPrimaryInAnEpochThatNobodyHeardOf(t *testing.T) {
	t.Parallel()
	forEachVersion(t, 5*time.Second, false, func(t *testing.T, c *cluster) {
		primary, follower := c.mustOwner(t, 0)
		c.settled(t)
		highest := int64(0)
		for _, n := range c.look(t.Context()) {
			if n.Server != nil {
				highest = max(highest, n.Server.Epoch)
			}
		}
		stop := watch(t, follower)
		primary.kill()
		primary.inEpoch(t, highest+1)
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
