package valkeynode

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	pollEvery  = 50 * time.Millisecond
	watchEvery = 10 * time.Millisecond
	stored     = 1000 // keys in every shard that has a replica
	// unnoticed is a node timeout within which a server can end and be back on any machine.
	unnoticed = 30 * time.Second
)

// cluster is five primaries, so that two may be lost; the first two have a replica.
type cluster struct {
	version, program, node string
	port, busPort, network string
	nodeTimeout            time.Duration
	persistent             bool
	servers                []*server
	client                 *wire.Client
	addresses              int // handed out so far
}

const primaries, replicated = 5, 2

// networks are handed out one per cluster, so that clusters can run side by side.
var networks = make(chan string, 64)

func init() {
	for i := range cap(networks) {
		networks <- fmt.Sprintf("127.%d.%d", 1+os.Getpid()%250, i)
	}
}

// build makes the places of a cluster, in which nothing runs yet.
func build(t testing.TB, version string, nodeTimeout time.Duration, persistent bool) *cluster {
	t.Helper()
	program, err := servers.Program(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	node, err := parts.Program(t.Context(), "github.com/statecraft-dev/statecraft/cmd/statecraft-valkey-node")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{
		version: version, program: program, node: node, network: <-networks,
		nodeTimeout: nodeTimeout, persistent: persistent, client: wire.NewClient().Patient(timeout.Command),
	}
	c.port, c.busPort = c.freePorts(t)
	dir := t.TempDir()
	for i := range primaries + replicated {
		s := &server{cluster: c, name: fmt.Sprint(i), ip: c.newIP(), dir: filepath.Join(dir, fmt.Sprint(i))}
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c.servers = append(c.servers, s)
	}
	t.Cleanup(func() {
		c.client.Close()
		for _, s := range c.servers {
			s.kill()
		}
		networks <- c.network
	})
	return c
}

func (c *cluster) newIP() string {
	c.addresses++
	return fmt.Sprintf("%s.%d", c.network, c.addresses)
}

// freePorts are two that nobody uses, as far apart as servers assume.
func (c *cluster) freePorts(t testing.TB) (port, bus string) {
	t.Helper()
	const apart, highest = 10000, 65535
	for {
		l, err := net.Listen("tcp", c.network+".1:0")
		if err != nil {
			t.Fatal(err)
		}
		number := l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		if number > highest-apart {
			number -= apart
		}
		port, bus = strconv.Itoa(number), strconv.Itoa(number+apart)
		if c.free(port) && c.free(bus) {
			return port, bus
		}
	}
}

func (c *cluster) free(port string) bool {
	l, err := net.Listen("tcp", c.network+".1:"+port)
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// form makes a cluster of servers that have just been started.
func (c *cluster) form(t testing.TB) {
	t.Helper()
	for _, s := range c.servers {
		s.start(t)
	}
	c.joined(t)
	c.settled(t)
	for i := range replicated {
		c.fill(t, c.servers[i], i)
		c.eventually(t, func() error { // what is not copied yet could not be lost
			if n := c.servers[primaries+i].keys(t.Context()); n != stored {
				return fmt.Errorf("the replica of shard %d has %d keys", i, n)
			}
			return nil
		})
	}
	c.settled(t)
}

// joined introduces all to each other and gives them their parts; others may not have
// heard of it yet when it returns.
func (c *cluster) joined(t testing.TB) {
	t.Helper()
	targets := make([]wire.Target, 0, len(c.servers))
	for _, s := range c.servers {
		c.eventually(t, func() error { _, err := c.client.Ask(t.Context(), s.addr()); return err })
		targets = append(targets, c.target(t, s))
	}
	for i, s := range c.servers {
		// NOTE: one that is introduced to itself may take an old word of its own for news,
		// and be a primary and a replica at once.
		c.must(t, c.client.Meet(t.Context(), targets[i], slices.Concat(targets[:i], targets[i+1:])))
		if i < primaries {
			c.must(t, c.client.AddSlots(t.Context(), c.target(t, s), topology.Share(i, primaries)))
		}
	}
	for i := range replicated {
		primary := c.target(t, c.servers[i]).ID
		c.eventually(t, func() error {
			return c.client.Replicate(t.Context(), c.target(t, c.servers[primaries+i]), primary)
		})
	}
}

// fill stores keys in a shard.
func (c *cluster) fill(t testing.TB, s *server, shard int) {
	t.Helper()
	var tag string
	for i := 0; ; i++ {
		tag = fmt.Sprintf("{%d}", i)
		reply, err := s.do(t.Context(), "CLUSTER", "KEYSLOT", tag)
		c.must(t, err)
		slot, err := reply.AsInt64()
		c.must(t, err)
		if topology.Share(shard, primaries).Overlaps(topology.Range(int(slot), int(slot))) {
			break
		}
	}
	words := []string{"MSET"}
	for i := range stored {
		words = append(words, fmt.Sprintf("%s%d", tag, i), "value")
	}
	c.eventually(t, func() error { _, err := s.do(t.Context(), words...); return err })
}

// look is what all servers that run say, and what each pod would be called.
func (c *cluster) look(ctx context.Context) (nodes topology.Nodes) {
	for _, s := range c.servers {
		if s.cmd == nil {
			continue
		}
		server, _ := c.client.Ask(ctx, s.addr())
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: s.name, Addr: s.addr()}, Server: server})
	}
	return nodes
}

// owner is the place of the server that owns the slots of a shard by its own words and
// by those of most others; other is the one beside it.
func (c *cluster) owner(ctx context.Context, shard int) (owner, other *server, err error) {
	slots, votes := topology.Share(shard, primaries), map[string]int{}
	nodes := c.look(ctx)
	for _, n := range nodes {
		if n.Server == nil {
			continue
		}
		for _, p := range n.Server.View {
			if p.Slots.Overlaps(slots) {
				votes[p.ID]++
			}
		}
	}
	for _, n := range nodes {
		if n.Server != nil && n.Server.Self().Slots == slots && 2*votes[n.Server.ID] > len(nodes) {
			owner = c.byName(n.Name)
		}
	}
	if owner == nil {
		return nil, nil, fmt.Errorf("nobody owns shard %d for most: %v", shard, votes)
	}
	other = c.servers[shard]
	if owner == other {
		other = c.servers[primaries+shard]
	}
	return owner, other, nil
}

func (c *cluster) mustOwner(t testing.TB, shard int) (owner, other *server) {
	t.Helper()
	c.eventually(t, func() (err error) { owner, other, err = c.owner(t.Context(), shard); return err })
	return owner, other
}

func (c *cluster) byName(name string) *server {
	return c.servers[slices.IndexFunc(c.servers, func(s *server) bool { return s.name == name })]
}

func (c *cluster) target(t testing.TB, s *server) wire.Target {
	t.Helper()
	reply, err := s.do(t.Context(), "CLUSTER", "MYID")
	c.must(t, err)
	id, err := reply.ToString()
	c.must(t, err)
	return wire.Target{Addr: s.addr(), ID: id}
}

func (c *cluster) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v\n%s", err, c.story())
	}
}

// eventually adds what the servers wrote to what is wrong.
func (c *cluster) eventually(t testing.TB, ask func() error) {
	t.Helper()
	ended := false
	defer func() {
		if !ended {
			t.Log(c.story())
		}
	}()
	harness.Eventually(t, timeout.Wait, pollEvery, ask)
	ended = true
}

// story is the end of what every server wrote.
func (c *cluster) story() string {
	var b strings.Builder
	for _, s := range c.servers {
		text, _ := os.ReadFile(s.dir + ".log")
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "--- %s at %s\n%s\n", s.name, s.ip, strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return b.String()
}
