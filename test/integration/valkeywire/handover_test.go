package valkeywire

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	writeEvery    = 2 * time.Millisecond
	lagAllowed    = 4096            // bytes
	takenOver     = 3 * time.Second // a failover that the gate lets through takes a fraction of it
	afterEachMove = 300 * time.Millisecond
)

// TestProvenFailoversSucceedAtOnce hands a shard to and fro under a writer: with a proof
// every failover succeeds at the first try, and no write that was acknowledged is lost.
func TestProvenFailoversSucceedAtOnce(t *testing.T) {
	for _, version := range servers.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := start(t, version)
			if err := wiretest.Form(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			w := startWriter(t, c.Addrs)
			for range harness.ByLevel(4, 40) {
				handOver(t, c)
			}
			w.check(t, c)
		})
	}
}

// handOver gives shard 0 to its replica.
func handOver(t *testing.T, c wiretest.Cluster) {
	t.Helper()
	var candidate topology.Node
	harness.Eventually(t, timeout.Wait, pollEvery, func() error {
		nodes := c.Nodes(t.Context())
		for _, m := range nodes.Shard(0) {
			if m.Server != nil && m.Server.Self().Follows != "" {
				candidate = m
			}
		}
		if candidate.Server == nil {
			return fmt.Errorf("shard 0 has no replica")
		}
		_, doubt := plan.ProveFailover(nodes, candidate.Server.ID, lagAllowed)
		if doubt != "" {
			return fmt.Errorf("%s", doubt)
		}
		return nil
	})
	if err := c.Failover(t.Context(), wire.Target{Addr: candidate.Addr, ID: candidate.Server.ID}, wire.Agreed); err != nil {
		t.Fatal(err)
	}
	harness.Within(t, takenOver, pollEvery/5, func() error {
		if s, err := c.Ask(t.Context(), candidate.Addr); err != nil || s.Self().Follows != "" {
			return fmt.Errorf("%s is no primary yet: %w", candidate.Name, err)
		}
		return nil
	})
	after, _ := c.Nodes(t.Context()).Spacing()
	if err := c.Elapse(t.Context(), max(after, afterEachMove)); err != nil {
		t.Fatal(err)
	}
}

// writer writes to shard 0 all the time and remembers what was acknowledged.
type writer struct {
	client valkey.Client
	stop   context.CancelFunc
	done   sync.WaitGroup

	acknowledged, failed int
	gap                  time.Duration // the longest between two that were acknowledged
}

const writtenSlot = 100 // of shard 0

func startWriter(t *testing.T, addrs []string) *writer {
	t.Helper()
	key := fmt.Sprintf("{%s}", tags()[writtenSlot])
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: addrs, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{client: client, stop: cancel}
	t.Cleanup(w.end)
	w.done.Go(func() {
		tick := time.NewTicker(writeEvery)
		defer tick.Stop()
		last := time.Now()
		for n := 0; ctx.Err() == nil; n++ {
			if err := client.Do(ctx, client.B().Set().Key(fmt.Sprint(key, n)).Value("v").Build()).Error(); err == nil {
				w.gap, last = max(w.gap, time.Since(last)), time.Now()
				w.acknowledged++
			} else if ctx.Err() == nil {
				w.failed++
			}
			<-tick.C
		}
	})
	return w
}

func (w *writer) end() {
	w.stop()
	w.done.Wait()
}

// check counts what is there: as many as were acknowledged, or more, if an answer was
// lost.
func (w *writer) check(t *testing.T, c wiretest.Cluster) {
	t.Helper()
	w.end()
	w.client.Close()
	t.Logf("%d writes acknowledged, %d failed, the longest gap %s", w.acknowledged, w.failed, w.gap)
	owner, _ := c.Nodes(t.Context()).Shard(0).Owner()
	if owner.Server == nil {
		t.Fatal("nobody owns shard 0")
	}
	counts, err := c.Mover.CountKeysInSlots(t.Context(), wire.Target{Addr: owner.Addr, ID: owner.Server.ID}, topology.Range(writtenSlot, writtenSlot))
	if err != nil {
		t.Fatal(err)
	}
	if counts[writtenSlot] < w.acknowledged || w.acknowledged == 0 {
		t.Errorf("%d keys are left of %d that were acknowledged", counts[writtenSlot], w.acknowledged)
	}
}
