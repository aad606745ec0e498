//go:build full

package valkey

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	gapRounds = 7 // with three shards each
	// settles is how long a client may need to find the new primary: well before the old one's pod goes.
	settles = time.Second
	long    = 200 * time.Millisecond // is worth a look
	draws   = 2000                   // of the same gaps, to see what chance does

	mostRatio = 1.15                   // of the medians, ours to the bare engine's
	mostTail  = 250 * time.Millisecond // that one failover in twenty may take
	quiet     = 20 * time.Millisecond  // is the longest that 99 of 100 PINGs take on a machine that has time for us
)

// TestUpgradeGapAgainstTheBareEngine compares for how long a shard takes no writes when an upgrade moves its primary
// with a CLUSTER FAILOVER by hand of the same servers, in turns: to a replica that was replaced before, as in every
// upgrade, and to one that all clients have known for long.
func TestUpgradeGapAgainstTheBareEngine(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	idle := startPings(t, s)
	vkc, w := s.busy(plain)
	var probes []*probe
	for _, shard := range vkc.Status.Shards {
		probes = append(probes, startProbe(t, s.addrOf(vkc, shard.Primary)))
	}
	ours, bare, known := gaps{by: "upgrade"}, gaps{by: "by hand"}, gaps{by: "by hand, to a known replica"}
	var syncs []time.Duration
	for range gapRounds {
		for shard, p := range probes {
			known.add(s.failoverByHand(vkc, shard, p))
		}
		for shard, p := range probes {
			s.replaceReplica(vkc, shard)
			bare.add(s.failoverByHand(vkc, shard, p))
		}
		syncs = append(syncs, s.failoversOf(vkc, probes, &ours)...)
	}
	for _, g := range []gaps{ours, bare, known} {
		g.print(t)
	}
	low, high := spread(ours, bare)
	harness.Row(t, "last write of the old primary to the first of the new: %s ÷ by hand %s = %.2f (drawn again, nine in ten are %.2f to %.2f), medians of %d and %d; to a known replica %.2f",
		median(ours.moved), median(bare.moved), ratio(ours, bare), low, high, len(ours.moved), len(bare.moved), ratio(ours, known))
	harness.Row(t, "around a full sync at most %s, median %s", slices.Max(syncs), median(syncs))
	pings := idle()
	harness.Row(t, "PING of an idle server meanwhile: p99 %s, at most %s", share(pings, 0.99), slices.Max(pings))
	if low > mostRatio {
		t.Errorf("an upgrade's failovers take %.2f times those by hand, and chance alone does not explain more than %.2f", ratio(ours, bare), mostRatio)
	}
	if tail := share(ours.moved, 0.95); tail > mostTail && share(pings, 0.99) < quiet {
		t.Errorf("one failover in twenty took over %s on a quiet machine", tail)
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

func ratio(a, b gaps) float64 { return median(a.moved).Seconds() / median(b.moved).Seconds() }

// spread says how far chance moves the ratio: one gap is several times another, so the medians of a few say little.
func spread(a, b gaps) (low, high float64) {
	chance := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // repeatable on purpose
	ratios := make([]float64, draws)
	for i := range ratios {
		ratios[i] = ratio(a.drawn(chance), b.drawn(chance))
	}
	slices.Sort(ratios)
	return ratios[draws/20], ratios[draws-draws/20]
}

// drawn are as many gaps, each any of them.
func (g *gaps) drawn(chance *rand.Rand) gaps {
	again := make([]time.Duration, len(g.moved))
	for i := range again {
		again[i] = g.moved[chance.IntN(len(g.moved))]
	}
	return gaps{moved: again}
}

// gaps are pauses in which a shard took no writes.
type gaps struct {
	by      string
	moved   []time.Duration // while its primary changed
	longest []time.Duration // of any cause
}

func (g *gaps) add(moved, longest time.Duration) {
	g.moved, g.longest = append(g.moved, moved.Round(100*time.Microsecond)), append(g.longest, longest)
}

// print shows every one of them: the tail is what people notice.
func (g *gaps) print(t *testing.T) {
	t.Helper()
	harness.Row(t, "%s: p95 %s, at most %s; longest pause of any cause until a second later %s, p95 %s, at most %s", g.by, share(g.moved, 0.95), slices.Max(g.moved), median(g.longest), share(g.longest, 0.95), slices.Max(g.longest))
	t.Logf("%s: %s", g.by, slices.Sorted(slices.Values(g.moved)))
}

func share(d []time.Duration, part float64) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[int(part*float64(len(d)-1))]
}

// failoverByHand moves the primary of a shard as a person would.
func (s *stage) failoverByHand(vkc *valkeyv1.ValkeyCluster, shard int, p *probe) (moved, longest time.Duration) {
	s.T.Helper()
	s.whole(vkc)
	replica := s.follower(vkc, shard)
	ask := s.single(s.addrOf(vkc, replica))
	p.lap()
	s.must(ask("CLUSTER", "FAILOVER").Error())
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		if s.follower(vkc, shard) == replica {
			return fmt.Errorf("%s is a replica", replica)
		}
		return nil
	})
	<-time.After(settles)
	moved = p.failover()
	s.explain(vkc, moved)
	return moved, p.lap()
}

// explain shows what all servers said when a pause was long.
func (s *stage) explain(vkc *valkeyv1.ValkeyCluster, pause time.Duration) {
	s.T.Helper()
	if pause < long {
		return
	}
	for name := range s.pods(vkc) {
		said, _ := s.Bed.Kubectl(s.T.Context(), "logs", "-n", vkc.Namespace, name, "-c", "valkey", "--timestamps", "--since=4s")
		s.T.Logf("a pause of %s, %s said:\n%s", pause, name, said)
	}
}

// replaceReplica has the pod of a shard's replica made anew, as a person would before it becomes the primary.
func (s *stage) replaceReplica(vkc *valkeyv1.ValkeyCluster, shard int) {
	s.T.Helper()
	s.whole(vkc)
	pod := s.pods(vkc)[s.follower(vkc, shard)]
	s.must(s.Client.Delete(s.T.Context(), &pod))
	harness.Eventually(s.T, runningWithin, poll, func() error {
		if now := s.pods(vkc)[pod.Name]; now.UID == pod.UID || now.UID == "" {
			return fmt.Errorf("%s was not made anew", pod.Name)
		}
		return nil
	})
}

// follower is the pod that says that it is the replica, and follows: the status may be a moment behind.
func (s *stage) follower(vkc *valkeyv1.ValkeyCluster, shard int) (pod string) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		for ordinal := range 2 {
			pod = fmt.Sprintf("%s-%d-%d", vkc.Name, shard, ordinal)
			if out, err := s.Bed.Kubectl(s.T.Context(), "exec", "-n", vkc.Namespace, pod, "--", "valkey-cli", "role"); err == nil && strings.HasPrefix(out, "slave") && strings.Contains(out, "connected") {
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
	s.T.Helper()
	u := s.upgradeBy(vkc, valkeyv1.ValkeyUpgradeSpec{})
	for shard, p := range probes {
		s.lane(u, shard, "UpgradingReplicas")
		p.lap()
		s.lane(u, shard, "FailingOver")
		early := p.failover() // it is quicker than whoever looks at the phase
		syncs = append(syncs, p.lap())
		harness.Eventually(s.T, upgradedWithin, poll/5, func() error {
			s.must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(u), u))
			if phase := u.Status.Shards[shard].Phase; phase == "FailingOver" {
				return fmt.Errorf("is %s", phase)
			}
			return nil
		})
		<-time.After(settles)
		moved := max(early, p.failover())
		if moved == 0 {
			s.T.Errorf("shard %d: nobody saw its primary move", shard)
		}
		s.explain(vkc, moved)
		found.add(moved, p.lap())
	}
	s.ends(u, "Completed")
	return syncs
}
