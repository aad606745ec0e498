//go:build full

package valkey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	gapRounds = 7 // with three shards each
	// settles is how long a client may need to find the new primary: well before the old one's pod goes.
	settles   = time.Second
	pingEvery = 10 * time.Millisecond
)

// TestUpgradeGapAgainstTheBareEngine compares for how long a shard takes no writes when an upgrade moves its primary
// with a CLUSTER FAILOVER by hand of the same servers, in turns.
func TestUpgradeGapAgainstTheBareEngine(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	idle := startPings(t, s)
	vkc, w := s.busy(plain)
	var probes []*probe
	for _, shard := range vkc.Status.Shards {
		probes = append(probes, startProbe(t, s.addrOf(vkc, shard.Primary)))
	}
	var ours, bare gaps
	var syncs []time.Duration
	for range gapRounds {
		for shard, p := range probes {
			bare.add(s.failoverByHand(vkc, shard, p))
		}
		syncs = append(syncs, s.failoversOf(vkc, probes, &ours)...)
	}
	harness.Row(t, "last write of the old primary to the first of the new: %s ÷ bare %s = %.2f, medians of %d and %d", median(ours.moved), median(bare.moved),
		median(ours.moved).Seconds()/median(bare.moved).Seconds(), len(ours.moved), len(bare.moved))
	harness.Row(t, "p95 %s, bare %s", share(ours.moved, 0.95), share(bare.moved, 0.95))
	harness.Row(t, "longest pause of any cause until a second later: %s, bare %s; p95 %s, bare %s", median(ours.longest), median(bare.longest),
		share(ours.longest, 0.95), share(bare.longest, 0.95))
	harness.Row(t, "around a full sync at most %s, median %s", slices.Max(syncs), median(syncs))
	harness.Row(t, "PING of an idle server meanwhile: p99 %s", share(idle(), 0.99))
	w.check(t)
	s.empty(vkc.Namespace, vkc)
}

// gaps are pauses in which a shard took no writes.
type gaps struct {
	moved   []time.Duration // while its primary changed
	longest []time.Duration // of any cause
}

func (g *gaps) add(moved, longest time.Duration) {
	g.moved, g.longest = append(g.moved, moved.Round(100*time.Microsecond)), append(g.longest, longest)
}

func share(d []time.Duration, part float64) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[int(part*float64(len(d)-1))]
}

// failoverByHand moves the primary of a shard as a person would.
func (s *stage) failoverByHand(vkc *valkeyv1.ValkeyCluster, shard int, p *probe) (moved, longest time.Duration) {
	s.t.Helper()
	s.whole(vkc)
	replica := s.follower(vkc, shard)
	ask := s.single(s.addrOf(vkc, replica))
	p.lap()
	s.must(ask("CLUSTER", "FAILOVER").Error())
	harness.Eventually(s.t, runningWithin, poll/5, func() error {
		if s.follower(vkc, shard) == replica {
			return fmt.Errorf("%s is a replica", replica)
		}
		return nil
	})
	<-time.After(settles)
	return p.failover(), p.lap()
}

// follower is the pod that says that it is the replica: the status may be a moment behind.
func (s *stage) follower(vkc *valkeyv1.ValkeyCluster, shard int) (pod string) {
	s.t.Helper()
	harness.Eventually(s.t, runningWithin, poll, func() error {
		for ordinal := range 2 {
			pod = fmt.Sprintf("%s-%d-%d", vkc.Name, shard, ordinal)
			if out, err := s.b.Kubectl(s.t.Context(), "exec", "-n", vkc.Namespace, pod, "--", "valkey-cli", "role"); err == nil && strings.HasPrefix(out, "slave") {
				return nil
			}
		}
		return fmt.Errorf("shard %d has no replica", shard)
	})
	return pod
}

// failoversOf restarts all servers by an upgrade without an image, and measures each shard while its primary moves, and
// before that, while its replica copies everything.
func (s *stage) failoversOf(vkc *valkeyv1.ValkeyCluster, probes []*probe, found *gaps) (syncs []time.Duration) {
	s.t.Helper()
	u := s.upgradeBy(vkc, valkeyv1.ValkeyUpgradeSpec{})
	for shard, p := range probes {
		s.lane(u, shard, "UpgradingReplicas")
		p.lap()
		s.lane(u, shard, "FailingOver")
		early := p.failover() // it is quicker than whoever looks at the phase
		syncs = append(syncs, p.lap())
		harness.Eventually(s.t, upgradedWithin, poll/5, func() error {
			s.must(s.c.Get(s.t.Context(), client.ObjectKeyFromObject(u), u))
			if phase := u.Status.Shards[shard].Phase; phase == "FailingOver" {
				return fmt.Errorf("is %s", phase)
			}
			return nil
		})
		<-time.After(settles)
		moved := max(early, p.failover())
		if moved == 0 {
			s.t.Errorf("shard %d: nobody saw its primary move", shard)
		}
		found.add(moved, p.lap())
	}
	s.ends(u, "Completed")
	return syncs
}

// startPings asks a server that has nothing to do. What it takes is the machine's doing.
func startPings(t *testing.T, s *stage) (took func() []time.Duration) {
	t.Helper()
	servers := blankServers(bedtest.Namespace(t, s.b), image)
	servers.Spec.Replicas = new(int32(1))
	s.must(s.c.Create(t.Context(), servers))
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
		for ctx.Err() == nil {
			began := time.Now()
			if c.Do(ctx, c.B().Ping().Build()).Error() == nil {
				all = append(all, time.Since(began))
			}
			<-time.After(pingEvery)
		}
	})
	stop := func() { cancel(); done.Wait() }
	t.Cleanup(func() { stop(); c.Close() })
	return func() []time.Duration { stop(); return all }
}
