package valkeysecurity

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// lostLink says that a replica misses its primary, which it does while a link is broken.
func lostLink(said string) bool { return strings.Contains(said, "it lost its primary") }

// tooLate says that nobody answered in time: a deadline ended it, or the connection's own.
func tooLate(said string) bool {
	return strings.Contains(said, context.DeadlineExceeded.Error()) || strings.Contains(said, os.ErrDeadlineExceeded.Error())
}

// crashesAfter is after how many steps the operator and a server start again in the middle.
const crashesAfter = 5

// A user writes certificates of another authority over those that were, in one edit. The
// operator brings servers to them in stages, with its own work on what it sees.
func TestANewAuthorityInOneEdit(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		o := c.operate(t)
		second := certs.NewAuthority(t, "second")
		l := c.startLoad(t)
		began, before := time.Now(), c.shown(t)
		o.give(access.ParseMaterial(issue(t, second, second)))
		steps := o.rotate(t, crashesAfter)
		t.Logf("%d stages, %d steps in %s", len(o.stages), steps, time.Since(began).Round(time.Millisecond))
		if len(o.stages) != 3 || o.stages[2] != o.given {
			t.Errorf("%d stages", len(o.stages))
		}
		c.believe(second)
		after := c.shown(t)
		for hash := range after {
			if len(after) != 1 || before[hash] > 0 {
				t.Errorf("shown before %v, after %v", before, after)
			}
		}
		for _, s := range c.servers {
			c.reconnects(t, s)
		}
		o.unharmed(t)
		l.check(t)
	})
}

// New passwords of the operator's own users are made, and brought to servers, to what they
// show each other, and to the files of the program beside them.
func TestOwnPasswordsInOneEdit(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		o := c.operate(t)
		l := c.startLoad(t)
		began := time.Now()
		operator, err := access.Generate(rand.Reader)
		c.must(t, err)
		replication, err := access.Generate(rand.Reader)
		c.must(t, err)
		o.keep(c.secrets(t).Begin(operator, replication))
		steps := o.rotate(t, crashesAfter)
		t.Logf("%d steps in %s", steps, time.Since(began).Round(time.Millisecond))
		is := c.secrets(t)
		if is.Changing() || is.Operator[0] != operator || is.Replication[0] != replication || len(is.Retired) == 0 {
			t.Error("the change was not ended")
		}
		for _, s := range c.servers {
			at := s.target(t)
			server, err := c.client.AskAccess(t.Context(), at)
			c.must(t, err)
			for user, old := range map[string]string{access.Operator: "operator-1", access.Replication: "replication-1"} {
				if server.Knows(user, access.NewPassword(old).Hash()) {
					t.Errorf("%s still takes %s", s.ip, old)
				}
			}
			if server.PrimaryHash != replication.Hash() || server.Files != is.Newest() {
				t.Errorf("%s shows another password to its primary, or has older files", s.ip)
			}
			c.reconnects(t, s)
		}
		o.unharmed(t)
		l.check(t)
	})
}
