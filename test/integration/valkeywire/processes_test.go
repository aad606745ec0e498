package valkeywire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	pollEvery = 50 * time.Millisecond
	port      = "6379"
)

// settings are those that the operator gives its servers, as far as they decide what
// comes of a command; a short timeout, so that tests are short, too.
var settings = []string{
	"--port", port, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--protected-mode", "no",
	"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0",
	"--cluster-allow-replica-migration", "no", "--cluster-require-full-coverage", "no",
}

// processes are servers on addresses of the loopback network that nobody else uses.
type processes struct {
	*wire.Client
	program string
	dir     string
	network string

	mu      sync.Mutex
	next    int
	running map[string]*process // by address
	homes   map[string]string
}

// process is one that was started, and may have ended since.
type process struct {
	*os.Process
	ended chan struct{} // is closed by then
}

// start runs the servers of one version.
func start(t *testing.T, version string) wiretest.Cluster {
	t.Helper()
	program, err := servers.Program(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	p := &processes{Client: wire.NewClient().Patient(timeout.Command), program: program, dir: t.TempDir(), running: map[string]*process{}, homes: map[string]string{}}
	t.Cleanup(p.end)
	if p.network, err = freeNetwork(t.Context()); err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for range wiretest.Servers {
		addr := p.address()
		if err := p.run(addr, filepath.Join(p.dir, fmt.Sprint(len(addrs)))); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, addr)
	}
	until := wiretest.Poll(timeout.Wait)
	for _, addr := range addrs {
		if err := until(t.Context(), func() bool { _, err := p.Ask(t.Context(), addr); return err == nil }); err != nil {
			t.Fatal(err)
		}
	}
	return wiretest.Cluster{Reader: p, Writer: p, Mover: p, Addrs: addrs, Version: version,
		Until: until, Glimpse: until, Elapse: p.elapse, Kill: p.kill, Start: p.restart}
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

func (p *processes) address() string {
	p.next++
	return net.JoinHostPort(fmt.Sprintf("%s.%d", p.network, p.next), port)
}

func (p *processes) run(addr, home string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// It ends with the test and not with a context: cleanups come after that one.
	cmd := exec.CommandContext(context.Background(), p.program, append(slices.Clone(settings), "--bind", host, "--cluster-announce-ip", host, "--dir", home)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	started := &process{Process: cmd.Process, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(started.ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[addr], p.homes[addr] = started, home
	return nil
}

// ended says that no process runs at an address.
func (p *processes) ended(addr string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[addr] == nil {
		return true
	}
	select {
	case <-p.running[addr].ended:
		return true
	default:
		return false
	}
}

func (p *processes) kill(addr string) error {
	p.mu.Lock()
	running := p.running[addr]
	delete(p.running, addr)
	p.mu.Unlock()
	if running == nil {
		return fmt.Errorf("kill %s: %w", addr, os.ErrNotExist)
	}
	_ = running.Kill() // it may have ended by itself
	<-running.ended
	return nil
}

func (p *processes) end() {
	p.Close()
	for addr := range p.homes {
		if p.running[addr] != nil {
			_ = p.kill(addr)
		}
	}
}

// restart runs the server that was at an address again.
func (p *processes) restart(addr string, how wiretest.Restart) (string, error) {
	home := p.homes[addr]
	if how.Forgets {
		if err := os.Remove(filepath.Join(home, "nodes.conf")); err != nil {
			return "", err
		}
	}
	if how.Empties {
		if err := os.RemoveAll(filepath.Join(home, "appendonlydir")); err != nil {
			return "", err
		}
	}
	if how.MistakesForPrimary != "" {
		if err := mistakeForPrimary(filepath.Join(home, "nodes.conf"), how.MistakesForPrimary); err != nil {
			return "", err
		}
	}
	if how.Moves {
		addr = p.address()
	}
	return addr, p.run(addr, home)
}

func (p *processes) elapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
