package act

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
)

// Slots that nobody wants any more where they go are not sent on; what was begun is finished.
func TestMovesEndWhereNobodyWantsThem(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		c, m := stocked(t, version)
		asked := 0
		m.turned = func(context.Context) bool {
			asked++
			return asked > 1
		}
		done := false
		for i := 0; i < mostSteps && !done; i++ {
			var err error
			done, err = m.step(t.Context())
			must(t, err)
			c.Settle()
		}
		must(t, m.look(t.Context()))
		if open := m.open(); !done || asked != 2 || len(open) > 0 || len(c.Lost()) > 0 {
			t.Errorf("%s: done %v, asked %d times, open %v, lost %v", version, done, asked, open, c.Lost())
		}
	}
}

// A pod that was replaced, and that nobody was introduced to, is no part of it, and in nobody's way.
func TestMovesGoOnBesideAnUnknownServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := stocked(t, "8.1.1")
		const addr = "10.0.0.9:6379"
		m.members = append(m.members, cluster.Place{Member: cluster.Member{Pod: "web-4-0", Addr: addr, ID: c.Start(addr, "8.1.1")}, Shard: 4})
		finish(t, c, m)
	})
}
