package valkeywire

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const stoppedFor = 500 * time.Millisecond

// TestTheEndOfAServerIsNoticed: one that is killed hangs up and refuses who asks, one that is stopped does neither.
func TestTheEndOfAServerIsNoticed(t *testing.T) {
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := start(t, version)
			p := c.Reader.(*processes)
			addr := c.Addrs[0]
			ends := make(chan error, 1)
			go func() { ends <- p.Watch(t.Context(), addr) }()

			p.signal(t, addr, syscall.SIGSTOP)
			select {
			case err := <-ends:
				t.Errorf("a stopped server hung up: %v", err)
			case <-time.After(stoppedFor):
			}
			hasty := wire.NewClient()
			defer hasty.Close()
			if _, err := hasty.Ask(t.Context(), addr); !errors.Is(err, wire.ErrUnreachable) || errors.Is(err, wire.ErrConnectionRefused) {
				t.Errorf("a stopped server: %v", err)
			}
			p.signal(t, addr, syscall.SIGCONT)
			if err := p.kill(addr); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ends:
				if !errors.Is(err, wire.ErrUnreachable) {
					t.Error(err)
				}
			case <-time.After(timeout.Wait):
				t.Error("nobody noticed the end of a server")
			}
			if _, err := p.Ask(t.Context(), addr); !errors.Is(err, wire.ErrConnectionRefused) {
				t.Errorf("a killed server, asked by who had a connection: %v", err)
			}
			if err := p.Watch(t.Context(), addr); !errors.Is(err, wire.ErrConnectionRefused) {
				t.Errorf("a killed server, watched: %v", err)
			}
		})
	}
}

// TestWatchingEnds with its context, without a complaint.
func TestWatchingEnds(t *testing.T) {
	c := start(t, servers.Versions()[0])
	harness.Eventually(t, timeout.Wait, pollEvery, func() error { // it may end before there is a connection
		ctx, cancel := context.WithTimeout(t.Context(), stoppedFor)
		defer cancel()
		return c.Reader.(*processes).Watch(ctx, c.Addrs[0])
	})
}

func (p *processes) signal(t *testing.T, addr string, s syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.running[addr].Signal(s); err != nil {
		t.Fatal(err)
	}
}
