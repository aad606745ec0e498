package valkeywire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/servers"
)

const (
	markSetting = "cluster-announce-human-nodename"
	ours        = "shop/web-0-0/0a1b2c3d-0000-4000-8000-000000000001"
	theirs      = "bank/web-0-0/0a1b2c3d-0000-4000-8000-000000000002"
)

// TestAnotherServerAtTheAddressIsNotTold: an address leads to one server, and then to another, as that of a pod on a
// dead node does. What is meant for the first must not reach the second, on whichever connection.
func TestAnotherServerAtTheAddressIsNotTold(t *testing.T) {
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := start(t, version)
			p := c.Reader.(*processes)
			if err := wiretest.Form(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			first, second, owner := mark(t, p, c.Addrs[0], ours), mark(t, p, c.Addrs[2], theirs), mark(t, p, c.Addrs[4], "")
			slots := topology.Range(16000, 16015) // of the third shard

			at := first
			at.Addr = handedOver(t, first.Addr, second.Addr)
			if err := p.SetSlotsImporting(t.Context(), at, slots, owner.ID); !errors.Is(err, wire.ErrOtherServer) {
				t.Errorf("slots are opened at who has the address by now: %v", err)
			}
			if s, err := p.Ask(t.Context(), second.Addr); err != nil || len(s.Open) > 0 {
				t.Errorf("the second server was told of slots that the first was to get: %v, %v", s.Open, err)
			}

			// The ID is not enough: a restored volume has that of the server whose it was.
			before := second
			before.Mark = ours
			if err := p.Failover(t.Context(), before, wire.Agreed); !errors.Is(err, wire.ErrOtherServer) {
				t.Errorf("a server of another pod is told: %v", err)
			}
			if err := p.Meet(t.Context(), first, []wire.Target{before}); !errors.Is(err, wire.ErrOtherServer) {
				t.Errorf("a server of another pod is met: %v", err)
			}
			if err := p.SetSlotsImporting(t.Context(), first, slots, owner.ID); err != nil {
				t.Errorf("the server that is meant is not told: %v", err)
			}
		})
	}
}

// mark makes the server at an address bear a mark, and returns what it is called then.
func mark(t *testing.T, p *processes, addr, mark string) wire.Target {
	t.Helper()
	server, err := p.Ask(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	at := wire.Target{Addr: addr, ID: server.ID}
	if err := p.ConfigSet(t.Context(), at, map[string]string{markSetting: mark}); err != nil {
		t.Fatal(err)
	}
	if server, err = p.Ask(t.Context(), addr); err != nil || server.Mark != mark {
		t.Fatalf("it bears %q: %v", server.Mark, err)
	}
	at.Mark = mark
	return at
}

// handedOver is an address that leads to one server, until the client has connected and looked who is there, and then to another.
func handedOver(t *testing.T, first, second string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var made atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			to := second
			if made.Add(1) <= 2 {
				to = first
			}
			go join(context.WithoutCancel(t.Context()), conn, to)
		}
	}()
	return l.Addr().String()
}

func join(ctx context.Context, conn net.Conn, addr string) {
	defer func() { _ = conn.Close() }()
	other, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer func() { _ = other.Close() }()
	go func() {
		_, _ = io.Copy(other, conn)
		_ = other.Close()
	}()
	_, _ = io.Copy(conn, other)
}
