package valkeysecurity

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// set changes what a Secret holds. The servers' files are another matter: see publish.
func (c *cluster) set(file, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users[file] = text
}

// rotation is a change of access, by the function that decides it.
type rotation struct {
	*cluster
	memory *access.Reconnection
	steps  []access.Step
}

func (r *rotation) world(t testing.TB) access.World {
	t.Helper()
	w := access.World{Secrets: r.secrets(t), Reconnected: r.memory}
	for _, s := range r.servers {
		n := access.Node{Name: s.ip, Version: r.version}
		if is, err := r.client.Ask(t.Context(), s.addr()); err == nil {
			n.Server, _ = r.client.AskAccess(t.Context(), wire.Target{Addr: s.addr(), ID: is.ID})
		}
		w.Nodes = append(w.Nodes, n)
	}
	return w
}

// step does what comes next, and says whether that was all.
func (r *rotation) step(t testing.TB) (doubt string, done bool) {
	t.Helper()
	steps, doubt := access.Next(r.world(t))
	var g errgroup.Group
	for _, s := range steps {
		if b, is := s.(access.Reconnect); is {
			r.memory = b.Remember()
		}
		at := r.servers[slices.IndexFunc(r.servers, func(o *server) bool { return o.ip == s.At() })].target(t)
		g.Go(func() error { return wire.Carry(t.Context(), r.client, at, s) })
	}
	r.must(t, g.Wait())
	r.steps = append(r.steps, steps...)
	return doubt, len(steps) == 0 && doubt == ""
}

// run goes on until there is nothing left to do.
func (r *rotation) run(t testing.TB, between func()) {
	t.Helper()
	r.eventually(t, func() error {
		doubt, done := r.step(t)
		between()
		if !done {
			return fmt.Errorf("not done: %s", doubt)
		}
		return nil
	})
}

// All passwords are changed while an application works.
func TestPasswordsChangeUnderLoad(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		l := c.startLoad(t)
		began := time.Now()
		c.set(access.OperatorFile, "operator-2\noperator-1\n")
		c.set(access.ReplicationFile, "replication-2\nreplication-1\n")
		c.set(access.ApplicationPasswordFile, "application-1\napplication-2\n") // its clients know the old one still
		r := &rotation{cluster: c}
		restarts := c.servers[5]
		for stage := 0; ; stage++ {
			if stage == 1 { // in the middle, and with the files of before
				restarts.kill()
				restarts.start(t)
				c.eventually(t, func() error { _, err := c.client.Ask(t.Context(), restarts.addr()); return err })
			}
			if _, done := r.step(t); done {
				break
			}
			if stage == 1 {
				r.memory = nil // and who decides crashed
			}
		}
		c.set(access.OperatorFile, "operator-2\n")
		c.set(access.ReplicationFile, "replication-2\n")
		c.set(access.ApplicationPasswordFile, "application-2\n")
		c.publish(t)
		r.run(t, func() {})
		t.Logf("%d steps in %s", len(r.steps), time.Since(began).Round(time.Millisecond))
		c.onlyNew(t, r)
		l.check(t)
	})
}

// onlyNew sees that the old passwords are worth nothing, and that every replica can
// connect anew.
func (c *cluster) onlyNew(t *testing.T, r *rotation) {
	t.Helper()
	for _, n := range r.world(t).Nodes {
		for user, old := range map[string]string{access.Operator: "operator-1", access.Replication: "replication-1", application: "application-1"} {
			if n.Server.Knows(user, access.NewPassword(old).Hash()) {
				t.Errorf("%s still takes %s", n.Name, old)
			}
		}
	}
	for _, s := range c.servers {
		c.reconnects(t, s)
	}
}

// reconnects breaks the link of a server to its primary, if it has one, and sees it back.
func (c *cluster) reconnects(t *testing.T, s *server) {
	t.Helper()
	at := s.target(t)
	is, err := c.client.AskAccess(t.Context(), at)
	c.must(t, err)
	if !is.Replica {
		return
	}
	c.must(t, c.client.Reconnect(t.Context(), at, is.Connection))
	c.eventually(t, func() error {
		now, err := c.client.AskAccess(t.Context(), at)
		if err != nil || !now.Linked || now.Connection == is.Connection {
			return fmt.Errorf("%s is not back: %+v, %w", s.ip, now, err)
		}
		return nil
	})
}
