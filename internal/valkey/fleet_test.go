//go:build full

package valkey

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const fleetRest = time.Minute

// TestFleet measures what a cluster at rest costs its manager, with 20 clusters and with 200: it must be the same.
func TestFleet(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	namespace := bedtest.Namespace(t, b)
	f := newFleet(t, b)
	f.startManager(t, b, thisVersion(), namespace)
	var costs []cost
	for _, n := range []int{20, 200} {
		f.grow(t, namespace, n)
		c := f.measure(t, b, n)
		harness.Row(t, "%d clusters: %.2f %% of a core, %.1f MiB heap, %.1f questions a server and minute, %d writes in %s",
			n, 100*c.cpu.Seconds()/fleetRest.Seconds(), c.heap/(1<<20), c.asks, c.writes, fleetRest)
		if c.writes > 0 {
			t.Errorf("%d writes at rest", c.writes)
		}
		costs = append(costs, c)
	}
	few, many := costs[0].cpu.Seconds()/20, costs[1].cpu.Seconds()/200
	harness.Row(t, "CPU of a cluster: %.1f ms a minute with 20, %.1f ms with 200: %.2f", few*1e3, many*1e3, many/few)
}

// cost is what clusters at rest cost.
type cost struct {
	cpu    time.Duration
	heap   float64
	asks   float64 // of a server, in a minute
	writes int
}

func (f *fleet) measure(t *testing.T, b *bed.Bed, n int) (c cost) {
	t.Helper()
	settled := time.Now()
	var writes map[string]int
	harness.Eventually(t, fleetWithin, fleetLooks, func() error { // events and reservations come after the phase
		f.node.Beat(t.Context())
		all, err := b.Writes(time.Now().Add(-5*time.Second), harness.User("valkey"))
		if writes = bed.CountWrites(all); err == nil && len(writes) > 0 {
			err = fmt.Errorf("still writes after %s: %v", time.Since(settled), writes)
		}
		return err
	})
	runtime.GC()
	since, cpu, asks := time.Now(), processCPU(t), f.asks.Load()
	for time.Since(since) < fleetRest {
		f.node.Beat(t.Context()) // or the node is given up
		<-time.After(fleetLooks)
	}
	c.cpu = processCPU(t) - cpu
	const servers = 6
	c.asks = float64(f.asks.Load()-asks) / float64(n*servers) / fleetRest.Minutes()
	all, err := b.Writes(since, harness.User("valkey"))
	if err != nil {
		t.Fatal(err)
	}
	c.writes = len(all)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	c.heap = float64(memory.HeapAlloc)
	return c
}

func processCPU(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
