package valkeysecurity

import (
	"fmt"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// moved are slots of the first shard that go to the second.
const moved topology.Slots = "0-199"

const (
	library = "#!lua name=shop\nserver.register_function('one', function() return 1 end)"
	enough  = 500 // writes before anything moves
)

// Slots move under load, as a whole where servers can: the source logs on to the target as
// the replication user, which may do no more than that takes.
func TestSlotsMoveUnderLoad(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		source, target := c.servers[0].target(t), c.servers[2].target(t)
		app := c.servers[0].as(t, application, "application-1")
		c.must(t, app.Do(t.Context(), app.B().Arbitrary("FUNCTION", "LOAD", library).Build()).Error())
		l := c.startLoad(t)
		c.eventually(t, func() error { return l.wrote(enough) })
		began := time.Now()
		if wire.MovesWhole(c.version) {
			c.must(t, c.client.MigrateSlots(t.Context(), source, []wire.SlotsTo{{Slots: moved, To: target.ID}}))
		} else {
			c.moveKeys(t, source, target)
		}
		c.eventually(t, func() error {
			s, err := c.client.Ask(t.Context(), target.Addr)
			if err != nil || !s.Self().Slots.Overlaps(moved) {
				jobs, _ := c.client.SlotMigrations(t.Context(), source)
				return fmt.Errorf("the slots are not there: %v, %w", jobs, err)
			}
			return nil
		})
		t.Logf("%d slots in %s", moved.Count(), time.Since(began).Round(time.Millisecond))
		c.eventually(t, func() error { return l.wrote(2 * enough) })
		l.check(t)
		if denied := c.servers[2].denials(t); denied != "0 0 0" {
			t.Errorf("the target denied %s", denied)
		}
	})
}

// moveKeys moves slots key by key.
func (c *cluster) moveKeys(t *testing.T, source, target wire.Target) {
	t.Helper()
	c.must(t, c.client.SetSlotsImporting(t.Context(), target, moved, source.ID))
	c.must(t, c.client.SetSlotsMigrating(t.Context(), source, moved, target.ID))
	send := wire.Migration{To: target.Addr, Within: timeout.Command, User: access.Replication, Password: "replication-1"}
	for left := -1; left != 0; {
		counts, err := c.client.CountKeysInSlots(t.Context(), source, moved)
		c.must(t, err)
		left = 0
		send.Batches = nil
		for slot, n := range counts {
			if left += n; n == 0 {
				continue
			}
			keys, err := c.client.KeysInSlot(t.Context(), source, slot, n)
			c.must(t, err)
			send.Batches = append(send.Batches, keys)
		}
		c.must(t, c.client.MigrateKeys(t.Context(), source, send))
	}
	for _, at := range []wire.Target{target, source, c.servers[4].target(t)} {
		c.must(t, c.client.SetSlotsNode(t.Context(), at, moved, target.ID))
	}
}

// wrote says that the application has written so much.
func (l *load) wrote(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.acknowledged) < n {
		return fmt.Errorf("%d of %d writes, %v", len(l.acknowledged), n, l.failures)
	}
	return nil
}

// Without the replication user's name the target lets no key in.
func TestKeysDoNotMoveWithoutALogin(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		source, target := c.servers[0].target(t), c.servers[2].target(t)
		app := c.servers[0].as(t, application, "application-1")
		c.must(t, c.client.SetSlotsImporting(t.Context(), target, "5", source.ID))
		c.must(t, app.Do(t.Context(), app.B().Set().Key(inSlot(t, app, 5)).Value("v").Build()).Error())
		c.must(t, c.client.SetSlotsMigrating(t.Context(), source, "5", target.ID))
		send := wire.Migration{To: target.Addr, Within: timeout.Command, Batches: [][]string{{inSlot(t, app, 5)}}}
		if err := c.client.MigrateKeys(t.Context(), source, send); err == nil {
			t.Error("a key moved without a login")
		}
		send.User, send.Password = access.Operator, "operator-1"
		if err := c.client.MigrateKeys(t.Context(), source, send); err == nil {
			t.Error("a key moved by the operator's login")
		}
		send.User, send.Password = access.Replication, "replication-1"
		c.must(t, c.client.MigrateKeys(t.Context(), source, send))
	})
}

// inSlot is a key of a slot.
func inSlot(t *testing.T, app valkey.Client, slot int64) string {
	t.Helper()
	for i := 0; ; i++ {
		key := fmt.Sprint(i)
		if n, err := app.Do(t.Context(), app.B().ClusterKeyslot().Key(key).Build()).AsInt64(); err != nil {
			t.Fatal(err)
		} else if n == slot {
			return key
		}
	}
}
