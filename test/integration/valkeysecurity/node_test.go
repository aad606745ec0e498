package valkeysecurity

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// A primary hands over while an application works: the program beside it logs on to all
// servers that decide with it.
func TestAPrimaryHandsOver(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		l := c.startLoad(t)
		primary, replica := c.servers[0], c.servers[1]
		c.eventually(t, func() error {
			if said, err := primary.tell("ready"); err != nil || said != "a primary" {
				return fmt.Errorf("%s: %w", said, err)
			}
			return nil
		})
		said, err := primary.tell("handover", "--linger", "1s", "--within", timeout.Command.String())
		if err != nil || !strings.Contains(said, "handed over in") {
			t.Fatalf("%v: %s\n%s", err, said, c.story())
		}
		t.Log(said)
		c.eventually(t, func() error {
			if said, err := primary.tell("ready"); err != nil || !strings.Contains(said, "in step") {
				return fmt.Errorf("%s: %w", said, err)
			}
			return nil
		})
		if s, err := c.client.Ask(t.Context(), replica.addr()); err != nil || s.Self().Slots == "" {
			t.Errorf("%s is no primary: %v", replica.ip, err)
		}
		l.check(t)
	})
}

const stored = 300

// A primary that lost everything comes back as a replica. In the middle of a change of
// passwords its files have one that no other server knows yet.
func TestAnEmptyPrimaryComesBackAsAReplica(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		primary, replica := c.servers[0], c.servers[1]
		l := c.startLoad(t)
		c.eventually(t, func() error { return l.wrote(stored) })
		l.end()
		c.eventually(t, func() error { return c.sameKeys(t, primary, replica) })
		c.set(access.OperatorFile, "operator-2\noperator-1\n")
		c.set(access.ReplicationFile, "replication-2\nreplication-1\n")
		primary.mount(t)
		primary.kill()
		primary.start(t)
		c.eventually(t, func() error {
			s, err := c.client.Ask(t.Context(), primary.addr())
			if err != nil || s.Self().Follows == "" {
				return fmt.Errorf("%s is no replica: %w", primary.ip, err)
			}
			return nil
		})
		r := &rotation{cluster: c} // or it could not connect: its primary does not know the new password
		r.run(t, func() {})
		c.eventually(t, func() error { return c.sameKeys(t, primary, replica) })
		l.check(t)
	})
}

// sameKeys says that two servers have as many keys, and some.
func (c *cluster) sameKeys(t *testing.T, a, b *server) error {
	t.Helper()
	var keys []string
	for _, s := range []*server{a, b} {
		is, err := c.client.Ask(t.Context(), s.addr())
		if err != nil {
			return err
		}
		if is.Empty || !is.Synced {
			return errors.New(s.ip + " is empty or not in step")
		}
		keys = append(keys, fmt.Sprint(is.Keys))
	}
	if keys[0] != keys[1] {
		return fmt.Errorf("they have %v keys", keys)
	}
	return nil
}
