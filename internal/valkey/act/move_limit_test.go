package act

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A limit makes moves last as long as it says, and loses nothing; lifted on the way, it is felt no more.
func TestMovesAreLimited(t *testing.T) {
	for version, seconds := range map[string]int{
		"8.1.1": 3 * 8, // key by key, one after the other sends to whoever gets slots
		"9.1.2": 8,
	} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, m := stocked(t, version)
				must(t, m.look(t.Context()))
				var bytes int64 // of the largest that are sent by one server
				for _, n := range m.nodes.Voters() {
					bytes = max(bytes, perSlot(n.Server)*int64(topology.TotalSlots/12))
				}
				m.limit = func(context.Context) int64 { return bytes / 8 }
				began := time.Now()
				finish(t, c, m)
				if took := time.Since(began); took.Round(2*time.Second) != time.Duration(seconds)*time.Second {
					t.Errorf("%d bytes at %d in a second took %s", bytes, bytes/8, took)
				}

				c, m = stocked(t, version)
				m.limit = func(context.Context) int64 { return 0 }
				began = time.Now()
				finish(t, c, m)
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("without a limit it took %s", took)
				}
			})
		})
	}
}

// What is allowed is spent in parts of a second, or slot by slot.
func TestAllowance(t *testing.T) {
	s := &topology.Server{ID: "a", View: []topology.Peer{{ID: "a", Claim: topology.Claim{Slots: "0-99"}}}}
	s.Dataset = 100 << 20
	for name, c := range map[string]struct {
		perSecond, most int64
		slots           int
	}{
		"no limit":               {0, 60 << 20, 60},
		"no limit, and no bound": {0, 1 << 40, 100},
		"a limit above the job":  {80 << 20, 60 << 20, 60},
		"a limit below the job":  {20 << 20, 60 << 20, 20},
		"less than a slot":       {1 << 10, 60 << 20, 1},
	} {
		a := &allowance{perSecond: c.perSecond}
		if slots := a.slots(s, c.most); slots != c.slots {
			t.Errorf("%s: %d slots", name, slots)
		}
	}
	a, now := &allowance{perSecond: 20 << 20}, time.Unix(1000, 0)
	a.begin(now)
	a.spend(s, 40)
	a.spend(s, 10)
	if left := a.left(now.Add(time.Second)); left != time.Second {
		t.Errorf("the next is in %s", left)
	}
	a.perSecond *= 2
	if left := a.left(now.Add(time.Second)); left != 0 {
		t.Errorf("with twice as much, the next is in %s", left)
	}
}
