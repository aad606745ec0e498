package valkeynode

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// A primary is told to stop while it gives slots as a whole to another, at every step of that: it hands over when no slot is
// on its way, and what was acknowledged is there.
func TestAPrimaryStopsWhileItGivesSlots(t *testing.T) {
	t.Parallel()
	c := build(t, "9.1", 5*time.Second, false)
	c.form(t)
	w := c.startWriter(t)
	for _, state := range []string{"", "snapshotting", "replicating", "waiting-to-pause", "failover-paused", "failover-granted"} {
		source, slots := c.primaryOf(t, 0)
		target, _ := c.primaryOf(t, 1)
		c.rest(t)
		w.writeMore(t)
		from, to := c.target(t, source), c.target(t, target)
		part := topology.Range(slots[0], slots[given-1])
		c.must(t, c.client.MigrateSlots(t.Context(), from, []wire.SlotsTo{{Slots: part, To: to.ID}}))
		reached := c.awaitJob(t, from, state)
		said, err := source.tell(t, "handover", "--linger", "0s", "--within", timeout.Command.String())
		if err != nil {
			t.Fatalf("told to stop in state %q: %v: %s\n%s", reached, err, said, c.story())
		}
		t.Logf("told to stop in state %q: %s", reached, said)
		c.settled(t)
	}
	w.check(t)
}

// given is how many slots are given each time.
const given = 500

// awaitJob waits until a job is in a state, or over, and is the state that was seen last.
func (c *cluster) awaitJob(t *testing.T, at wire.Target, state string) (seen string) {
	t.Helper()
	for state != seen {
		jobs, err := c.client.SlotMigrations(t.Context(), at)
		c.must(t, err)
		if seen = jobs[0].State; jobs[0].Ended() {
			break
		}
	}
	return seen
}

// primaryOf is the server of a shard with a replica that is its primary, and its slots: not always those that it began with.
func (c *cluster) primaryOf(t *testing.T, shard int) (primary *server, slots []int) {
	t.Helper()
	c.eventually(t, func() error {
		for _, s := range []*server{c.servers[shard], c.servers[primaries+shard]} {
			is, err := c.client.Ask(t.Context(), s.addr())
			if err != nil {
				return err
			}
			if own := is.Self(); own.Follows == "" {
				primary, slots = s, own.Slots.List()
				return nil
			}
		}
		return fmt.Errorf("shard %d has no primary", shard)
	})
	return primary, slots
}

// slotWriter writes numbers to keys of many slots, and remembers what was acknowledged.
type slotWriter struct {
	client valkey.Client
	stop   context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	acked map[string]int64
	count int64
}

func (c *cluster) startWriter(t *testing.T) *slotWriter {
	t.Helper()
	client, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{c.servers[0].addr(), c.servers[1].addr()}, DisableCache: true, AlwaysRESP2: true, ClientSetInfo: valkey.DisableClientSetInfo,
	})
	c.must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	w := &slotWriter{client: client, stop: cancel, done: make(chan struct{}), acked: map[string]int64{}}
	t.Cleanup(func() { cancel(); <-w.done; client.Close() })
	go w.write(ctx)
	return w
}

// keysWritten is of how many keys.
const keysWritten = 2000

func (w *slotWriter) write(ctx context.Context) {
	defer close(w.done)
	for i := int64(1); ctx.Err() == nil; i++ {
		key := fmt.Sprintf("w%d", i%keysWritten)
		if w.client.Do(ctx, w.client.B().Set().Key(key).Value(fmt.Sprint(i)).Build()).Error() == nil {
			w.mu.Lock()
			w.acked[key], w.count = i, w.count+1
			w.mu.Unlock()
		}
	}
}

// writeMore waits for some more writes.
func (w *slotWriter) writeMore(t *testing.T) {
	t.Helper()
	written := func() int64 { w.mu.Lock(); defer w.mu.Unlock(); return w.count }
	for until := written() + keysWritten; written() < until; {
		select {
		case <-time.After(pollEvery):
		case <-w.done:
			t.Fatal("the writer has ended")
		}
	}
}

// check reads everything that was acknowledged.
func (w *slotWriter) check(t *testing.T) {
	t.Helper()
	w.stop()
	<-w.done
	lost := 0
	for key, want := range w.acked {
		if got, err := w.client.Do(t.Context(), w.client.B().Get().Key(key).Build()).AsInt64(); err != nil || got < want {
			lost++
			t.Logf("%s is %d, %v; %d was acknowledged", key, got, err, want)
		}
	}
	if t.Logf("%d writes to %d keys, %d lost", w.count, len(w.acked), lost); lost > 0 {
		t.Errorf("%d of %d keys are lost", lost, len(w.acked))
	}
}
