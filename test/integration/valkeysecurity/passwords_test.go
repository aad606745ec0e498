package valkeysecurity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/harness"
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
	probes bool // rights are looked at, too
}

func (r *rotation) world(t testing.TB) access.World {
	t.Helper()
	w := access.World{Secrets: r.secrets(t), Reconnected: r.memory}
	for _, s := range r.servers {
		n := access.Node{Name: s.ip, Version: r.version}
		if is, err := r.client.Ask(t.Context(), s.addr()); err == nil {
			at := wire.Target{Addr: s.addr(), ID: is.ID}
			n.Server, _ = r.client.AskAccess(t.Context(), at)
			n.Askew = r.askew(t, at)
		}
		w.Nodes = append(w.Nodes, n)
	}
	return w
}

// askew are users whose rights are not as they should be.
func (r *rotation) askew(t testing.TB, at wire.Target) (users []string) {
	t.Helper()
	if !r.probes {
		return nil
	}
	wrong, err := r.client.Try(t.Context(), at, access.Probes(r.version, r.secrets(t).Users(r.version)))
	r.must(t, err)
	for _, p := range wrong {
		users = append(users, p.User)
	}
	return users
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
	r.steps = append(r.steps, steps...)
	if err := g.Wait(); err != nil { // what was not heard is decided again
		return err.Error(), false
	}
	if strings.Contains(doubt, "to reach the files") { // as they do after a while, and are seen by probes
		r.publish(t)
		for _, s := range r.servers {
			_, _ = s.tell("ready")
		}
	}
	return doubt, len(steps) == 0 && doubt == ""
}

// run goes on until there is nothing left to do.
func (r *rotation) run(t testing.TB, between func()) {
	t.Helper()
	r.eventually(t, func() error {
		doubt, done := r.step(t)
		between()
		if !done {
			return fmt.Errorf("not done after %v: %s", r.steps, doubt)
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
		stage := 0
		r.run(t, func() {
			if stage++; stage == 1 { // it starts again in the middle, with the files of before
				restarts.kill()
				restarts.start(t)
				c.eventually(t, func() error { _, err := c.client.Ask(t.Context(), restarts.addr()); return err })
			}
			if stage == 2 { // and who decides crashes
				r.memory = nil
			}
		})
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

// neverFor is how long something that must not happen does not.
const neverFor = 1500 * time.Millisecond

// A password that is dropped too early is not missed before somebody connects; one link
// that is broken on purpose shows it while all others stand.
func TestAPasswordThatIsDroppedTooEarly(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		l := c.startLoad(t)
		primary, replica := c.servers[0].target(t), c.servers[1].target(t)
		old, other := access.NewPassword("replication-1").Hash(), access.NewPassword("replication-2").Hash()
		c.must(t, c.client.AddPasswords(t.Context(), primary, access.Replication, []access.Hash{other}))
		c.must(t, c.client.DropPasswords(t.Context(), primary, access.Replication, []access.Hash{old, "unknown"}))
		linked := func(want bool) error {
			s, err := c.client.AskAccess(t.Context(), replica)
			if err != nil || s.Linked != want {
				return fmt.Errorf("the link is %v: %w", !want, err)
			}
			return nil
		}
		harness.Consistently(t, neverFor, pollEvery, func() error { return linked(true) })
		s, err := c.client.AskAccess(t.Context(), replica)
		c.must(t, err)
		c.must(t, c.client.Reconnect(t.Context(), replica, s.Connection))
		c.eventually(t, func() error { return linked(false) })
		harness.Consistently(t, neverFor, pollEvery, func() error { return linked(false) })
		c.must(t, c.client.AddPasswords(t.Context(), primary, access.Replication, []access.Hash{old}))
		c.eventually(t, func() error { return linked(true) })
		l.check(t)
	})
}

// What is wrong with the new password is seen at one link, before the old one is dropped
// anywhere; once it is mended, the change goes on.
func TestNothingIsDroppedBeforeALinkIsBack(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		l := c.startLoad(t)
		less := c.secrets(t).Users(c.version)[1]
		less.Rules = append(less.Rules, "-psync", "-sync") // without PSYNC it tries SYNC
		c.must(t, c.client.Grant(t.Context(), c.servers[0].target(t), less))
		c.set(access.ReplicationFile, "replication-2\nreplication-1\n")
		r := &rotation{cluster: c}
		c.eventually(t, func() error {
			if doubt, _ := r.step(t); !strings.Contains(doubt, "has not come back") {
				return fmt.Errorf("no doubt yet, but %q", doubt)
			}
			return nil
		})
		harness.Consistently(t, neverFor, pollEvery, func() error {
			if doubt, done := r.step(t); doubt == "" || done {
				return fmt.Errorf("went on to %v", r.steps)
			}
			return nil
		})
		old := access.NewPassword("replication-1").Hash()
		for _, n := range r.world(t).Nodes {
			if !n.Server.Knows(access.Replication, old) {
				t.Errorf("the old password was dropped at %s", n.Name)
			}
		}
		r.probes = true
		r.run(t, func() {})
		for _, s := range c.servers {
			c.reconnects(t, s)
		}
		l.check(t)
	})
}
