package fake

import (
	"errors"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

func secretsOf(t *testing.T, operator, replication string) access.Secrets {
	t.Helper()
	s, err := access.ParseOwn(map[string]string{access.OperatorFile: operator, access.ReplicationFile: replication})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shard is a primary and its replica, with passwords.
func shard(t *testing.T) (c *Cluster, at map[string]wire.Target) {
	t.Helper()
	c = New()
	c.Mount(secretsOf(t, "o1", "r1"), access.Material{})
	at = map[string]wire.Target{}
	for _, addr := range []string{"p", "r"} {
		at[addr] = wire.Target{Addr: addr, ID: c.Start(addr, "9.1.2")}
	}
	form(t, c, at)
	return c, at
}

func form(t *testing.T, c *Cluster, at map[string]wire.Target) {
	t.Helper()
	must(t, c.Meet(t.Context(), at["r"], []wire.Target{at["p"]}))
	c.Settle()
	must(t, c.AddSlots(t.Context(), at["p"], topology.Range(0, topology.TotalSlots-1)))
	c.Settle()
	must(t, c.Replicate(t.Context(), at["r"], at["p"].ID))
	c.Settle()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func world(t *testing.T, c *Cluster, at map[string]wire.Target, w access.World) access.World {
	t.Helper()
	w.Nodes = nil
	for _, name := range []string{"p", "r"} {
		s, err := c.AskAccess(t.Context(), at[name])
		must(t, err)
		w.Nodes = append(w.Nodes, access.Node{Name: name, Version: "9.1.2", Server: s})
	}
	return w
}

// change changes access until there is nothing left to do.
func change(t *testing.T, c *Cluster, at map[string]wire.Target, to access.Secrets) access.World {
	t.Helper()
	w := access.World{Secrets: to}
	c.Mount(to, access.Material{})
	for range 10 {
		w = world(t, c, at, w)
		steps, doubt := access.Next(w)
		if len(steps) == 0 && doubt == "" {
			return w
		}
		for _, s := range steps {
			if b, is := s.(access.Reconnect); is {
				w.Reconnected = b.Remember()
			}
			must(t, wire.Carry(t.Context(), c, at[s.At()], s))
		}
		c.Settle()
	}
	steps, doubt := access.Next(w)
	t.Fatalf("left: %v, %s", steps, doubt)
	return w
}

// A change of passwords comes to its end, and a link that is broken is back.
func TestPasswordsChange(t *testing.T) {
	c, at := shard(t)
	w := change(t, c, at, secretsOf(t, "o2\no1", "r2\nr1"))
	if s := w.Nodes[1].Server; !s.Linked || s.Connection == w.Reconnected.Connection || s.Knows(access.Replication, secretsOf(t, "o1", "r1").Replication[0].Hash()) {
		t.Errorf("the replica is %+v", s)
	}
}

// A password is looked at when somebody connects, and not before.
func TestAPasswordIsMissedByWhoConnects(t *testing.T) {
	c, at := shard(t)
	r1 := secretsOf(t, "o1", "r1").Replication[0].Hash()
	linked := func() bool {
		s, err := c.AskAccess(t.Context(), at["r"])
		must(t, err)
		return s.Linked
	}
	must(t, c.DropPasswords(t.Context(), at["p"], access.Replication, []access.Hash{r1}))
	c.Settle()
	if !linked() {
		t.Error("a link that stood is gone")
	}
	must(t, c.Reconnect(t.Context(), at["r"], "1"))
	c.Settle()
	if linked() {
		t.Error("let in without a password")
	}
	must(t, c.AddPasswords(t.Context(), at["p"], access.Replication, []access.Hash{r1}))
	c.Settle()
	if !linked() {
		t.Error("not let in with a password")
	}
	c.Skew("p", access.Replication)
	must(t, c.Reconnect(t.Context(), at["r"], "2"))
	c.Settle()
	if linked() {
		t.Error("let in without a right")
	}
	c.Restart("p", Restart{})
	c.Settle()
	if !linked() {
		t.Error("not let in by a server that read its files anew")
	}
}

// Servers that let anybody in are given users while they serve.
func TestAccessIsClosed(t *testing.T) {
	c, at := New(), map[string]wire.Target{}
	for _, addr := range []string{"p", "r"} {
		at[addr] = wire.Target{Addr: addr, ID: c.Start(addr, "9.1.2")}
	}
	form(t, c, at)
	w := change(t, c, at, secretsOf(t, "o", "r"))
	for _, n := range w.Nodes {
		if n.Server.Accounts[access.Default].On || !n.Server.Accounts[access.Replication].On || n.Server.Replica && !n.Server.Linked {
			t.Errorf("%s is %+v", n.Name, n.Server)
		}
	}
}

func TestCertificatesAreLoadedIfTheyAreThere(t *testing.T) {
	c, at := shard(t)
	m := access.Material{Certificate: "c", Key: access.NewPassword("k"), Authorities: "a"}
	files := access.FilesOf(m.Name())
	if err := c.ReloadCertificates(t.Context(), at["p"], "/tls", files); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("error %v", err)
	}
	c.Mount(secretsOf(t, "o1", "r1"), m)
	must(t, c.ReloadCertificates(t.Context(), at["p"], "/tls", files))
	s, err := c.AskAccess(t.Context(), at["p"])
	if name, named := access.LoadedBy(s.Material); err != nil || !named || name != m.Name() {
		t.Errorf("loaded %v, %v", s.Material, err)
	}
}
