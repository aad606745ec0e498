package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// A server whose data is in memory only does not stop before there is a copy of it: it waits for as long as it
// may, and hands over to the replica that comes.
func TestTheOnlyCopyIsWaitedFor(t *testing.T) {
	const keys = 5
	for name, tc := range map[string]struct {
		change func(settled)
		within time.Duration
		heals  bool // the replica comes back while the server waits
		waits  bool
		asked  string
	}{
		"the replica comes back":     {func(s settled) { s.Write(primaryAddr, keys); s.Stop(replicaAddr) }, time.Minute, true, true, replicaAddr},
		"no replica comes":           {func(s settled) { s.Write(primaryAddr, keys); s.Stop(replicaAddr) }, time.Second, false, true, ""},
		"the data is on a volume":    {func(s settled) { s.Write(primaryAddr, keys) }, 0, false, false, replicaAddr},
		"there is no data":           {func(s settled) { s.Answer(replicaAddr, wire.ErrLoading) }, time.Minute, false, false, ""},
		"the cluster is all removed": {removed, time.Minute, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := trio(t, "8.1.1")
			tc.change(s)
			waited := false
			h := &Handover{Addr: primaryAddr, Within: 500 * time.Millisecond, CopyWithin: tc.within, Say: func(words string) {
				if strings.Contains(words, "for a copy") {
					waited = true
					if tc.heals {
						s.Resume(replicaAddr)
					}
				}
			}}
			err := h.by(t.Context(), s)
			if got := strings.Join(*s.asked, ", "); strings.TrimSpace(got) != tc.asked || waited != tc.waits {
				t.Errorf("asked %q, waited %t, %v", got, waited, err)
			}
			if tc.asked == "" && err != nil && !errors.Is(err, ErrNotHandedOver) {
				t.Error(err)
			}
		})
	}
}

// removed lets all pods of a cluster have been told to stop, and its replicas be gone.
func removed(s settled) {
	s.Write(primaryAddr, 5)
	s.Stop(replicaAddr)
	for _, addr := range []string{primaryAddr, "10.0.0.2:6379", "10.0.0.3:6379"} {
		s.TellToStop(addr)
	}
}

// Where no replicas are wanted, none is waited for.
func TestWhetherCopiesAreWanted(t *testing.T) {
	for text, want := range map[string]bool{"1\n": true, "0\n": false, "": true, "many": true} {
		h := &Handover{Replicas: filepath.Join(t.TempDir(), "replicas")}
		if !h.wantsCopies() {
			t.Error("without a file")
		}
		if err := os.WriteFile(h.Replicas, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := h.wantsCopies(); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// A replica is a copy like any other: it waits where its primary does not answer, and no other replica has one.
func TestAReplicaMayBeTheLastCopy(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(settled)
		last   bool
	}{
		"its primary lives":           {func(settled) {}, false},
		"its primary does not answer": {func(s settled) { s.Stop(primaryAddr) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := trio(t, "8.1.1")
			s.Write(primaryAddr, 5)
			s.Settle()
			tc.change(s)
			self, err := s.Cluster.Ask(t.Context(), replicaAddr)
			if err != nil {
				t.Fatal(err)
			}
			if got := next(self, around(t.Context(), s, self)); got.copyless != tc.last {
				t.Errorf("%+v", got)
			}
		})
	}
}
