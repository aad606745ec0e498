package valkeywire

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// A server whose volume is full says so, and refuses writes; when there is room again, it goes on.
func TestAFullVolumeIsSeen(t *testing.T) {
	t.Parallel()
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			home := smallVolume(t)
			p, addr := single(t, version, home)
			until := wiretest.Poll(timeout.Wait)
			says := func(want bool) {
				t.Helper()
				err := until(t.Context(), func() bool {
					s, err := p.Ask(t.Context(), addr)
					return err == nil && s.CannotWrite == want
				})
				if err != nil {
					t.Fatalf("cannot write is not %t: %v", want, err)
				}
			}
			c := connect(t, addr)
			says(false)
			refused := until(t.Context(), func() bool {
				err := c.Do(t.Context(), c.B().Append().Key("k").Value(strings.Repeat("x", 1<<19)).Build()).Error()
				return err != nil && strings.Contains(err.Error(), "MISCONF")
			})
			if refused != nil {
				t.Fatal(refused)
			}
			says(true)
			if err := syscall.Mount("", home, "", syscall.MS_REMOUNT, "size=64m"); err != nil {
				t.Fatal(err)
			}
			says(false)
		})
	}
}

// smallVolume is a folder that holds little.
func smallVolume(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir())
	if err := syscall.Mount("none", home, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(home, syscall.MNT_DETACH) })
	return home
}

// single is a server that owns all slots.
func single(t *testing.T, version, home string) (*processes, string) {
	t.Helper()
	program, err := servers.Program(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	p := &processes{Client: wire.NewClient().Patient(timeout.Command), program: program, running: map[string]*process{}, homes: map[string]string{}}
	t.Cleanup(p.end)
	if p.network, err = freeNetwork(t.Context()); err != nil {
		t.Fatal(err)
	}
	addr := p.address()
	if err := p.run(addr, home); err != nil {
		t.Fatal(err)
	}
	var s *topology.Server
	until := wiretest.Poll(timeout.Wait)
	if err := until(t.Context(), func() bool { s, err = p.Ask(t.Context(), addr); return err == nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.AddSlots(t.Context(), wire.Target{Addr: addr, ID: s.ID}, topology.Share(0, 1)); err != nil {
		t.Fatal(err)
	}
	if err := until(t.Context(), func() bool { s, err = p.Ask(t.Context(), addr); return err == nil && s.OK }); err != nil {
		t.Fatal(err)
	}
	return p, addr
}

// connect is a client that has the server write to its volume every second, as those of the operator do.
func connect(t *testing.T, addr string) valkey.Client {
	t.Helper()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, DisableRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Do(t.Context(), c.B().ConfigSet().ParameterValue().ParameterValue("appendfsync", "everysec").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	return c
}
