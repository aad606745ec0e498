package valkeysecurity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	pollEvery   = 50 * time.Millisecond
	nodeTimeout = 5 * time.Second
	port        = "6379"
)

// application is the user of the clients.
const application = "shop"

// cluster is three primaries with a replica each. All that it holds is encrypted and
// behind passwords.
type cluster struct {
	version, program, node, network string
	servers                         []*server
	client                          *wire.Client     // logs on as the operator's user
	first                           *certs.Authority // signed the first certificates

	mu       sync.Mutex
	users    map[string]string // what Secrets hold now, as files
	tls      map[string]string
	believed *x509.CertPool
}

// build makes the places of a cluster, in which nothing runs yet.
func build(t testing.TB, version string) *cluster {
	t.Helper()
	program, err := servers.Program(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	node, err := parts.Program(t.Context(), "github.com/statecraft-dev/statecraft/cmd/statecraft-valkey-node")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{version: version, program: program, node: node, users: map[string]string{
		access.OperatorFile: "operator-1\n", access.ReplicationFile: "replication-1\n",
		access.ApplicationUserFile: application, access.ApplicationPasswordFile: "application-1",
	}}
	if c.network, err = freeNetwork(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.first = certs.NewAuthority(t, "first")
	c.believe(c.first)
	c.tls = issue(t, c.first, c.first)
	c.client = wire.NewClientWith(wire.Access{Login: c.login(access.Operator, access.OperatorFile), TLS: c.trust()}).Patient(timeout.Command)
	dir := t.TempDir()
	for i := range wiretest.Servers {
		s := &server{cluster: c, ip: fmt.Sprintf("%s.%d", c.network, i+1), dir: filepath.Join(dir, fmt.Sprint(i))}
		c.servers = append(c.servers, s)
	}
	t.Cleanup(c.end)
	return c
}

func (c *cluster) end() {
	c.client.Close()
	for _, s := range c.servers {
		s.kill()
	}
}

var errNoNetwork = errors.New("no part of the loopback network is free")

// freeNetwork finds a part of the loopback network whose first address is free.
func freeNetwork(ctx context.Context) (string, error) {
	for range 100 {
		network := fmt.Sprintf("127.%d.%d", 10+rand.IntN(240), 1+rand.IntN(250))
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(network+".1", port))
		if err == nil {
			return network, l.Close()
		}
	}
	return "", errNoNetwork
}

// login reads what a Secret holds now.
func (c *cluster) login(user, file string) func() (string, []access.Password, error) {
	return func() (string, []access.Password, error) {
		passwords, err := access.ParsePasswords(c.held()[file])
		return user, passwords, err
	}
}

func (c *cluster) held() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.users)
}

// believe sets which authorities the clients believe.
func (c *cluster) believe(list ...*certs.Authority) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(certs.Bundle(list...)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.believed = pool
}

// trust is how clients check the servers: by one name, and by the authorities that are
// believed when they connect.
func (c *cluster) trust() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: serverName, InsecureSkipVerify: true, // it is verified below
		VerifyConnection: func(state tls.ConnectionState) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: serverName, Roots: c.believed})
			return err
		},
	}
}

// form starts all servers and makes a cluster of them, as the operator's user.
func (c *cluster) form(t testing.TB) {
	t.Helper()
	c.publish(t)
	for _, s := range c.servers {
		s.start(t)
	}
	for _, s := range c.servers {
		c.eventually(t, func() error { _, err := c.client.Ask(t.Context(), s.addr()); return err })
	}
	if err := wiretest.Form(t.Context(), c.wiretest()); err != nil {
		t.Fatalf("%v\n%s", err, c.story())
	}
}

func (c *cluster) wiretest() wiretest.Cluster {
	list := wiretest.Cluster{Reader: c.client, Writer: c.client, Version: c.version, Until: wiretest.Poll(timeout.Wait)}
	for _, s := range c.servers {
		list.Addrs = append(list.Addrs, s.addr())
	}
	return list
}

// publish lets every server have what Secrets hold now.
func (c *cluster) publish(t testing.TB) {
	t.Helper()
	for _, s := range c.servers {
		s.mount(t)
	}
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
		fmt.Fprintf(&b, "--- %s\n%s\n", s.ip, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return b.String()
}
