package valkeysecurity

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// serve lets servers find a material, and load it.
func (c *cluster) serve(t *testing.T, m access.Material) {
	t.Helper()
	if err := m.Check(serverName, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := c.load(t, m); !errors.Is(err, wire.ErrRefused) {
		t.Fatalf("loaded before it was there: %v", err)
	}
	c.mu.Lock()
	c.tls = m.Files()
	c.mu.Unlock()
	c.publish(t)
	c.must(t, c.load(t, m))
	for _, s := range c.servers {
		is, err := c.client.AskAccess(t.Context(), s.target(t))
		c.must(t, err)
		if name, named := access.LoadedBy(is.Material); !named || name != m.Name() {
			t.Errorf("%s loaded %v", s.ip, is.Material)
		}
	}
	c.reconnects(t, c.servers[1])
}

// load tells all servers to load a material.
func (c *cluster) load(t *testing.T, m access.Material) error {
	t.Helper()
	var g errgroup.Group
	for _, s := range c.servers {
		at := s.target(t)
		g.Go(func() error {
			return c.client.ReloadCertificates(t.Context(), at, s.tlsDir(), access.FilesOf(m.Name()))
		})
	}
	return g.Wait()
}

// shown are the certificates that the servers show, all of them.
func (c *cluster) shown(t *testing.T) map[string]int {
	t.Helper()
	shown := map[string]int{}
	for _, s := range c.servers {
		c.eventually(t, func() error {
			hash, err := c.client.Certificate(t.Context(), s.target(t))
			if err == nil {
				shown[hash]++
			}
			return err
		})
	}
	return shown
}

// The certificate is renewed, and then another authority takes over, while an application
// works. In the end nobody believes the first authority any more, and a server that starts
// again is taken back by the others.
func TestCertificatesChangeUnderLoad(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		first, second := c.first, certs.NewAuthority(t, "second")
		l := c.startLoad(t)
		began, before := time.Now(), c.shown(t)
		served := access.ParseMaterial(c.tls)
		loads := 0
		for _, given := range []access.Material{
			access.ParseMaterial(issue(t, first, first)), // a renewal
			access.ParseMaterial(issue(t, second, second)),
		} {
			c.believe(first, second)
			for ; served != given; loads++ {
				served = access.NextMaterial(served, given)
				c.serve(t, served)
			}
		}
		c.believe(second)
		after := c.shown(t)
		t.Logf("loaded %d times by every server in %s", loads, time.Since(began).Round(time.Millisecond))
		if len(before) != 1 || len(after) != 1 || loads != 4 {
			t.Errorf("shown before %v, after %v, in %d steps", before, after, loads)
		}
		for hash := range after {
			if before[hash] > 0 {
				t.Error("the certificate is the same")
			}
		}
		last := c.servers[5]
		last.kill()
		last.start(t)
		c.eventually(t, func() error {
			if doubt, agree := c.wiretest().Nodes(t.Context()).Agree(); !agree {
				return errors.New(doubt)
			}
			is, err := c.client.AskAccess(t.Context(), last.target(t))
			if err != nil || !is.Linked {
				return fmt.Errorf("%s is not in step: %w", last.ip, err)
			}
			return nil
		})
		l.check(t)
	})
}

// Authorities that are exchanged in one go cost links: what the order is for.
func TestAnotherAuthorityAtOnceBreaksLinks(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		second := certs.NewAuthority(t, "second")
		c.believe(c.first, second)
		replica := c.servers[1]
		at := replica.target(t)
		was, err := c.client.AskAccess(t.Context(), at)
		c.must(t, err)
		m := access.ParseMaterial(issue(t, second, second))
		c.tls = m.Files()
		replica.mount(t) // the others have not heard of it yet
		c.must(t, c.client.ReloadCertificates(t.Context(), at, replica.tlsDir(), access.FilesOf(m.Name())))
		c.must(t, c.client.Reconnect(t.Context(), at, was.Connection))
		c.eventually(t, func() error {
			is, err := c.client.AskAccess(t.Context(), at)
			if err != nil || is.Linked {
				return fmt.Errorf("the link stands: %w", err)
			}
			return nil
		})
	})
}
