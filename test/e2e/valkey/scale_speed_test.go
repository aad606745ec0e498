//go:build full

package valkey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// load is what a cluster is filled with before its slots move.
type load struct{ keys, bytes int }

// fill writes values, from many sides.
func fill(t *testing.T, addr string, l load) {
	t.Helper()
	writer.Fill(t, addr, l.keys, l.bytes)
}

// TestScaleSpeedKeyByKey compares how fast slots move on 8.1 with valkey-cli's own rebalancing.
func TestScaleSpeedKeyByKey(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	l := load{keys: 400_000, bytes: 100}
	const moved = valkeyv1.Slots / 4
	ours, bare := inTurns(speedRounds, func() time.Duration { return s.timeScaling(images.Valkey81, l, size{4, 0}) },
		func() time.Duration { return s.timeRebalance(l) })
	harness.Row(t, "%.0f slots/s ÷ valkey-cli %.0f = %.2f (%d keys of %d bytes, medians of %d)", moved/ours.Seconds(), moved/bare.Seconds(),
		bare.Seconds()/ours.Seconds(), l.keys, l.bytes, speedRounds)
}

// TestScaleSpeedAsAWhole compares how fast data moves on 9.1 with one command for all of it.
func TestScaleSpeedAsAWhole(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	l := load{keys: 1 << 16, bytes: 1 << 16}
	const movedMB = 2 << 10
	ours, bare := inTurns(speedRounds, func() time.Duration { return s.timeScaling(images.Valkey91, l, size{6, 0}) },
		func() time.Duration { return s.timeMigration(l) })
	harness.Row(t, "%.0f MB/s ÷ one MIGRATESLOTS %.0f MB/s = %.2f (%d MB moved, medians of %d)", movedMB/ours.Seconds(), movedMB/bare.Seconds(),
		bare.Seconds()/ours.Seconds(), movedMB, speedRounds)
}

// timeScaling is how long a cluster of three masters moves slots to become larger, under a writer.
func (s *stage) timeScaling(image string, l load, to size) time.Duration {
	s.T.Helper()
	vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image, v.Spec.ReplicasPerMaster = image, new(int32(0)) })
	fill(s.T, s.addr(vkc), l)
	took := s.timeResize(vkc, to)
	w.Check(s.T)
	s.empty(vkc.Namespace, vkc)
	return took
}

// timeMoving is how long slots were on the move until something holds. That new servers are ready to serve is
// waited for before, here as with the bare engine.
func (s *stage) timeMoving(vkc *valkeyv1.ValkeyCluster, until func() bool) (took time.Duration) {
	s.T.Helper()
	last := time.Now()
	harness.Eventually(s.T, upgradedWithin, poll/5, func() error {
		s.fresh(vkc)
		ready := apimeta.FindStatusCondition(vkc.Status.Conditions, "Ready")
		moves := vkc.Status.Phase == cluster.RebalancingSlots || vkc.Status.Phase == cluster.EvacuatingSlots
		if moves && ready != nil && ready.Reason == string(cluster.ReasonMoving) {
			took += time.Since(last)
		}
		last = time.Now()
		if !until() {
			return fmt.Errorf("is %s", vkc.Status.Phase)
		}
		return nil
	})
	return took
}

// speedRounds is how often two ways are tried.
const speedRounds = 3

// inTurns is how long each of two ways takes, medians of some rounds.
func inTurns(rounds int, a, b func() time.Duration) (ours, bare time.Duration) {
	var as, bs []time.Duration
	for range rounds {
		as, bs = append(as, a()), append(bs, b())
	}
	slices.Sort(as)
	slices.Sort(bs)
	return as[rounds/2], bs[rounds/2]
}

// bareServers are so many servers that belong to no cluster.
func (s *stage) bareServers(image string, n int32) (*appsv1.StatefulSet, []string) {
	s.T.Helper()
	servers := blankServers(bedtest.Namespace(s.T, s.Bed), image)
	servers.Spec.Replicas = &n
	s.must(s.Client.Create(s.T.Context(), servers))
	var addrs []string
	harness.Eventually(s.T, runningWithin, poll, func() (err error) {
		addrs, err = s.readyPods(servers.Namespace, int(n))
		return err
	})
	return servers, addrs
}

// timeRebalance lets valkey-cli give a fourth master its share.
func (s *stage) timeRebalance(l load) time.Duration {
	s.T.Helper()
	servers, addrs := s.bareServers(images.Valkey81, 4)
	cli := func(args ...string) {
		s.exec(servers.Namespace, "blank-0", append([]string{"valkey-cli", "--cluster"}, args...)...)
	}
	cli("create", addrs[0], addrs[1], addrs[2], "--cluster-yes")
	w := writer.Start(s.T, addrs[0])
	w.Await(s.T, writesBefore)
	fill(s.T, addrs[0], l)
	cli("add-node", addrs[3], addrs[0])
	for _, addr := range addrs { // it does not wait for that itself
		ask := s.single(addr)
		harness.Eventually(s.T, runningWithin, poll, func() error {
			info, err := ask("CLUSTER", "INFO").ToString()
			if err != nil || !strings.Contains(info, "cluster_known_nodes:4") || !strings.Contains(info, "cluster_state:ok") {
				return fmt.Errorf("%s does not know all, or does not serve: %w", addr, err)
			}
			return nil
		})
	}
	began := time.Now()
	cli("rebalance", addrs[0], "--cluster-use-empty-masters", "--cluster-pipeline", "100")
	took := time.Since(began)
	w.Report(s.T)
	s.empty(servers.Namespace, servers)
	return took
}

// timeMigration moves one half of all slots by one command.
func (s *stage) timeMigration(l load) time.Duration {
	s.T.Helper()
	servers, addrs := s.bareServers(images.Valkey91, 2)
	from, to := s.single(addrs[0]), s.single(addrs[1])
	s.must(from("CLUSTER", "ADDSLOTSRANGE", "0", "16383").Error())
	host, port, _ := strings.Cut(addrs[1], ":")
	s.must(from("CLUSTER", "MEET", host, port).Error())
	target, err := to("CLUSTER", "MYID").ToString()
	s.must(err)
	harness.Eventually(s.T, runningWithin, poll, func() error { return serves(from, to, addrs[0]) })
	w := writer.Start(s.T, addrs[0])
	w.Await(s.T, writesBefore)
	fill(s.T, addrs[0], l)
	began := time.Now()
	s.must(from("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "0", "8191", "NODE", target).Error())
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		nodes, err := from("CLUSTER", "NODES").ToString()
		if err != nil || !strings.Contains(nodes, " 0-8191\n") || !strings.Contains(nodes, " 8192-16383\n") {
			return fmt.Errorf("not moved: %w", err)
		}
		return nil
	})
	took := time.Since(began)
	w.Report(s.T)
	s.empty(servers.Namespace, servers)
	return took
}

// serves says nil when both servers know that one has all slots.
func serves(from, to func(...string) valkey.ValkeyResult, owner string) error {
	for _, ask := range []func(...string) valkey.ValkeyResult{from, to} {
		info, err := ask("CLUSTER", "INFO").ToString()
		if err != nil || !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("%s does not serve: %w", owner, err)
		}
	}
	return nil
}

// single talks to one server.
func (s *stage) single(addr string) func(words ...string) valkey.ValkeyResult {
	s.T.Helper()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true})
	s.must(err)
	s.T.Cleanup(c.Close)
	return func(words ...string) valkey.ValkeyResult {
		ctx, cancel := context.WithTimeout(context.Background(), writer.AnswersWithin)
		defer cancel()
		return c.Do(ctx, c.B().Arbitrary(words...).Build())
	}
}
