//go:build full

package valkey

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

const (
	floodWriters  = 8
	floodPipeline = 64   // writes that each has under way
	floodKeys     = 8192 // of each
	floodMeasured = 10 * time.Second
)

// flood writes as fast as the machine lets it, many writes at a time, and remembers the last that was acknowledged of each key.
type flood struct {
	client valkey.Client
	cancel context.CancelFunc
	group  errgroup.Group
	acked  [floodWriters][floodKeys]int64
	writes atomic.Int64
	failed atomic.Int64
	why    atomic.Value
}

func startFlood(t *testing.T, addr string) *flood {
	t.Helper()
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &flood{client: client, cancel: cancel}
	t.Cleanup(func() { f.stop(); client.Close() })
	for i := range floodWriters {
		f.group.Go(func() error { f.write(ctx, i); return nil })
	}
	return f
}

func floodKey(writer, key int) string { return fmt.Sprintf("flood-%d-%d", writer, key) }

func (f *flood) write(ctx context.Context, i int) {
	for n := int64(1); ctx.Err() == nil; n += floodPipeline {
		batch := make([]valkey.Completed, 0, floodPipeline)
		for j := range int64(floodPipeline) {
			batch = append(batch, f.client.B().Set().Key(floodKey(i, int((n+j)%floodKeys))).Value(fmt.Sprint(n+j)).Build())
		}
		within, cancel := context.WithTimeout(context.Background(), writer.AnswersWithin)
		for j, reply := range f.client.DoMulti(within, batch...) {
			if err := reply.Error(); err != nil {
				f.failed.Add(1)
				f.why.Store(err.Error())
				continue
			}
			f.acked[i][(n+int64(j))%floodKeys] = n + int64(j)
			f.writes.Add(1)
		}
		cancel()
	}
}

func (f *flood) stop() {
	f.cancel()
	_ = f.group.Wait() // they return none
}

// check reads every key: what was acknowledged must be there, or something newer.
func (f *flood) check(t *testing.T) {
	t.Helper()
	f.stop()
	lost := 0
	for i := range floodWriters {
		for key, want := range f.acked[i] {
			got, err := f.client.Do(t.Context(), f.client.B().Get().Key(floodKey(i, key)).Build()).AsInt64()
			if want > 0 && (err != nil || got < want) {
				lost++
				t.Logf("%s: acknowledged %d, read %d, %v", floodKey(i, key), want, got, err)
			}
		}
	}
	harness.Row(t, "%d writes, %d lost, %d failed", f.writes.Load(), lost, f.failed.Load())
	if lost > 0 || f.failed.Load() > 0 {
		t.Errorf("%d lost; %d failed, the last with %v", lost, f.failed.Load(), f.why.Load())
	}
}

// perSecond is how much is written while something is done.
func (f *flood) perSecond(do func()) float64 {
	began, before := time.Now(), f.writes.Load()
	do()
	return float64(f.writes.Load()-before) / time.Since(began).Seconds()
}

// paced lets slots move for so long that a drain begins meanwhile: 64 MiB go to a fourth shard.
func paced(v *valkeyv1.ValkeyCluster) {
	v.Spec.SlotMigration.MaxBytesPerSecond = ptr.To(resource.MustParse("2Mi"))
}

// halfWay waits until a shard that is added has some of the slots that it is to get, and returns how many.
func (s *stage) halfWay(vkc *valkeyv1.ValkeyCluster, shard int32) (slots int) {
	s.T.Helper()
	s.phase(vkc, cluster.RebalancingSlots)
	ask := s.single(s.addrOf(vkc, fmt.Sprintf("%s-%d-0", vkc.Name, shard)))
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		text, err := ask("CLUSTER", "NODES").ToString()
		s.must(err)
		nodes, err := wire.ParseNodes(strings.TrimPrefix(text, "txt:")) // of a verbatim string in RESP3
		s.must(err)
		for _, p := range nodes.Peers {
			if p.ID == nodes.Self {
				slots = p.Slots.Count()
			}
		}
		if slots == 0 {
			return fmt.Errorf("no slot has come yet; %q", s.fresh(vkc).Status.WaitingFor)
		}
		return nil
	})
	return slots
}

// TestNothingIsLostAtTheHighestRate adds a shard and drains a node meanwhile, and clients write as fast as the machine lets them.
func TestNothingIsLostAtTheHighestRate(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	for _, engine := range []string{images.Valkey91, image} {
		t.Run(engine[strings.LastIndex(engine, "/")+1:], func(t *testing.T) {
			s := s.of(t)
			vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = engine; paced(v) })
			w.Stop()
			fill(t, s.addr(vkc), load{keys: 4 << 10, bytes: 1 << 16})
			t.Cleanup(func() { _, _ = s.Bed.Kubectl(context.Background(), "uncordon", "--selector=kubernetes.io/hostname") })
			f := startFlood(t, s.addr(vkc))
			harness.Row(t, "%.0f writes a second at rest", f.perSecond(func() { <-time.After(floodMeasured) }))
			rate := f.perSecond(func() {
				to := size{4, 1}
				s.resize(vkc, to)
				moved, share := s.halfWay(vkc, to.masters-1), valkeyv1.Slots/int(to.masters)
				if harness.Row(t, "the drain begins when %d of %d slots have moved", moved, share); moved >= share {
					t.Error("all slots had moved before the drain began")
				}
				s.kubectl("drain", s.Bed.Nodes()[0].Name(), "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=5m")
				s.kubectl("uncordon", s.Bed.Nodes()[0].Name())
				harness.Eventually(t, runningWithin, poll, func() error { return has(s.fresh(vkc), to) })
				s.whole(vkc)
			})
			harness.Row(t, "%.0f writes a second from 3 to 4 shards and while a node is drained", rate)
			f.check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}
