//go:build full

package valkey

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const pingEvery = 10 * time.Millisecond

// startPings asks a server that has nothing to do. What it takes is the machine's doing, and so is asking late: each
// answer counts from when it was due to be asked for, so that a machine that stood still for a second is a hundred
// late answers, and not one that nobody asked for.
func startPings(t *testing.T, s *stage) (took func() []time.Duration) {
	t.Helper()
	servers := blankServers(bedtest.Namespace(t, s.Bed), image)
	servers.Spec.Replicas = new(int32(1))
	s.must(s.Client.Create(t.Context(), servers))
	var addrs []string
	harness.Eventually(t, runningWithin, poll, func() (err error) {
		addrs, err = s.readyPods(servers.Namespace, 1)
		return err
	})
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: addrs, DisableCache: true, ForceSingleClient: true})
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	var all []time.Duration
	done.Go(func() {
		for due := time.Now(); ctx.Err() == nil; due = due.Add(pingEvery) {
			<-time.After(time.Until(due))
			if c.Do(ctx, c.B().Ping().Build()).Error() == nil {
				all = append(all, time.Since(due))
			}
		}
	})
	stop := func() { cancel(); done.Wait() }
	t.Cleanup(func() { stop(); c.Close() })
	return func() []time.Duration { stop(); return all }
}
