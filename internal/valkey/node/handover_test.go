package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// settled is servers that have told each other everything whenever one is asked.
type settled struct {
	*fake.Cluster
	asked *[]string // who was asked to take over
	busy  *int      // answers of the primary that take too long
}

func (s settled) Ask(ctx context.Context, addr string) (*topology.Server, error) {
	if addr == primaryAddr && *s.busy > 0 {
		*s.busy--
		return nil, context.DeadlineExceeded
	}
	s.Settle()
	return s.Cluster.Ask(ctx, addr)
}

func (s settled) Failover(ctx context.Context, at wire.Target, mode wire.FailoverMode) error {
	*s.asked = append(*s.asked, at.Addr+" "+string(mode))
	return s.Cluster.Failover(ctx, at, mode)
}

const (
	primaryAddr = "10.0.0.1:6379"
	replicaAddr = "10.0.0.4:6379"
)

// trio is three primaries, and a replica of the first.
func trio(t *testing.T, version string) settled {
	t.Helper()
	s := settled{fake.New(), new([]string), new(int)}
	var at []wire.Target
	for _, addr := range []string{primaryAddr, "10.0.0.2:6379", "10.0.0.3:6379", replicaAddr} {
		at = append(at, wire.Target{Addr: addr, ID: s.Start(addr, version)})
	}
	for i, one := range at[1:] {
		if err := s.Meet(t.Context(), one, at[:1]); err != nil {
			t.Fatal(err)
		}
		s.Settle()
		if err := s.AddSlots(t.Context(), at[i], topology.Share(i, 3)); err != nil {
			t.Fatal(err)
		}
	}
	s.Settle()
	if err := s.Replicate(t.Context(), at[3], at[0].ID); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	return s
}

// lingers is how long a server goes on in these tests.
const lingers = 300 * time.Millisecond

// A server that is about to stop makes its replica the primary, and goes on for a while to
// tell clients so.
func TestHandOver(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(settled)
		asked  string
		err    error
	}{
		"a primary":                           {func(settled) {}, replicaAddr, nil},
		"a primary that is busy for a moment": {func(s settled) { *s.busy = 2 }, replicaAddr, nil},
		"a server that has ended": {func(s settled) {
			s.Answer(primaryAddr, wire.ErrConnectionRefused)
		}, "", ErrNotHandedOver},
		"a primary whose replica has not all": {func(s settled) {
			s.Answer(replicaAddr, wire.ErrLoading)
		}, "", ErrNotHandedOver},
	} {
		t.Run(name, func(t *testing.T) {
			s, handed := trio(t, "8.1.1"), time.Time{}
			tc.change(s)
			within := time.Second // for what does not come about
			if tc.err == nil {
				within = time.Minute
			}
			h := &Handover{Addr: primaryAddr, Within: within, Linger: lingers, Say: func(words string) {
				if strings.HasPrefix(words, "handed over in") {
					handed = time.Now()
				}
			}}
			err := h.by(t.Context(), s)
			if got := strings.TrimSpace(strings.Join(*s.asked, ", ")); got != tc.asked || !errors.Is(err, tc.err) {
				t.Fatalf("asked %q, %v", got, err)
			}
			if err == nil && tc.asked != "" && (handed.IsZero() || time.Since(handed) < lingers) {
				t.Errorf("handed over at %s, and went on for %s", handed, time.Since(handed))
			}
		})
	}
}

// Only who can take everything over is asked.
func TestWhomToHandOverTo(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(self *topology.Server, view topology.Nodes)
		to     bool
		done   bool
	}{
		"the replica":    {func(*topology.Server, topology.Nodes) {}, true, false},
		"it is behind":   {func(self *topology.Server, _ topology.Nodes) { self.Offset += 2 * lag }, false, false},
		"it has no link": {func(_ *topology.Server, view topology.Nodes) { of(view, replicaAddr).Synced = false }, false, false},
		"a voter suspects it": {func(_ *topology.Server, view topology.Nodes) {
			suspect(of(view, "10.0.0.2:6379"), of(view, replicaAddr).ID)
		}, false, false},
		"this is a replica": {func(self *topology.Server, view topology.Nodes) {
			claim(self, topology.Claim{Follows: of(view, replicaAddr).ID})
		}, false, true},
		"this owns nothing": {func(self *topology.Server, _ topology.Nodes) { claim(self, topology.Claim{}) }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := trio(t, "8.1.1")
			self, err := s.Ask(t.Context(), primaryAddr)
			if err != nil {
				t.Fatal(err)
			}
			view := around(t.Context(), s, self)
			tc.change(self, view)
			if got := next(self, view); (got.to != nil) != tc.to || got.done != tc.done {
				t.Errorf("%+v", got)
			}
		})
	}
}

func of(view topology.Nodes, addr string) *topology.Server {
	for _, n := range view {
		if n.Addr == addr {
			return n.Server
		}
	}
	return nil
}

func suspect(by *topology.Server, id string) {
	for i := range by.View {
		if by.View[i].ID == id {
			by.View[i].State = topology.Suspected
		}
	}
}

func claim(s *topology.Server, c topology.Claim) {
	for i := range s.View {
		if s.View[i].ID == s.ID {
			s.View[i].Claim = c
		}
	}
}

// Voters below 8.1 are given the time that they need since the last failover, whoever asked
// for that; when it was is known from a file.
func TestSpacingOfHandOvers(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		noted   string        // the epoch in the file; "" is none
		since   time.Duration // ago
		waits   bool
	}{
		"8.1":                               {"8.1.1", "1", 0, false},
		"8.0, a primary for long":           {"8.0.1", "1", time.Minute, false},
		"8.0, a primary since just now":     {"8.0.1", "1", time.Second, true},
		"8.0, a primary of another epoch":   {"8.0.1", "0", time.Minute, true},
		"8.0, a primary since nobody knows": {"8.0.1", "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, file := trio(t, tc.version), filepath.Join(t.TempDir(), "since")
			self, err := s.Ask(t.Context(), primaryAddr)
			if err != nil {
				t.Fatal(err)
			}
			for i := range self.View {
				self.View[i].Epoch = 1
			}
			if tc.noted != "" {
				at := time.Now().Add(-tc.since)
				if err := errors.Join(os.WriteFile(file, []byte(tc.noted), 0o600), os.Chtimes(file, at, at)); err != nil {
					t.Fatal(err)
				}
			}
			h := Handover{Noted: file}
			if left := h.spacing(self, around(t.Context(), s, self)); (left > 0) != tc.waits {
				t.Errorf("%s are left", left)
			}
		})
	}
}
