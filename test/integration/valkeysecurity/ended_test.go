package valkeysecurity

import (
	"errors"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// shortLived is how long a certificate lasts that is to end while servers have it: several times what they need to load it.
const shortLived = 40 * time.Second

// Nobody brought new certificates in time, and a server has started again since. With those of
// another authority, that come late, all find each other again, and none was restarted for it.
func TestCertificatesThatHaveEnded(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		o := c.operate(t)
		o.give(access.ParseMaterial(c.first.IssueUntil(t, time.Now().Add(shortLived), serverName, c.first)))
		o.rotate(t, 0)
		short := o.given
		c.eventually(t, func() error {
			if !short.Ended(time.Now()) {
				return errors.New("they are still valid")
			}
			return nil
		})
		last := c.servers[len(c.servers)-1]
		last.kill()
		last.start(t)
		o.restarted()
		second := certs.NewAuthority(t, "second")
		o.give(access.ParseMaterial(issue(t, second, second)))
		steps := o.rotate(t, 0)
		t.Logf("%d stages, %d steps", len(o.stages), steps)
		c.believe(second)
		if shown := c.shown(t); len(shown) != 1 {
			t.Errorf("shown: %v", shown)
		}
		for _, s := range c.servers {
			c.reconnects(t, s)
		}
		o.unharmed(t)
	})
}

// A server that is away, perhaps for good, does not keep the others from certificates that come
// in time; when it is back it has them, too.
func TestCertificatesWhileAServerIsAway(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		o := c.operate(t)
		last := c.servers[len(c.servers)-1]
		last.kill()
		o.give(access.ParseMaterial(issue(t, c.first, c.first)))
		o.rotate(t, 0)
		if len(o.stages) != 1 || o.stages[0] != o.given {
			t.Errorf("%d stages", len(o.stages))
		}
		last.start(t)
		o.restarted()
		o.rotate(t, 0)
		if shown := c.shown(t); len(shown) != 1 {
			t.Errorf("shown: %v", shown)
		}
		for _, s := range c.servers {
			c.reconnects(t, s)
		}
		o.unharmed(t)
	})
}
