//go:build full

package valkey

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// forEachEngine runs a test on clusters of 8.1 and of 9.1, three times each.
func forEachEngine(t *testing.T, test func(s *stage, image string)) {
	t.Helper()
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	for _, engine := range []string{image, images.Valkey91} {
		for round := range rounds {
			t.Run(fmt.Sprintf("%s/%d", engine[strings.LastIndex(engine, "/")+1:], round+1), func(t *testing.T) { test(s.of(t), engine) })
		}
	}
}

// TestCarelessDrains drains every node, one after the other, while no manager runs. Pods that come instead have no copy of
// anything, so Kubernetes must not evict those that have.
func TestCarelessDrains(t *testing.T) {
	forEachEngine(t, func(s *stage, engine string) {
		vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = engine })
		s.T.Cleanup(func() { _, _ = s.Bed.Kubectl(context.Background(), "uncordon", "--selector=kubernetes.io/hostname") })
		s.Manager.Stop()
		refused := 0
		for _, node := range s.Bed.Nodes() {
			out, err := s.Bed.Kubectl(s.T.Context(), "drain", node.Name(), "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=20s")
			if err != nil && !strings.Contains(out+err.Error(), "disruption budget") {
				s.T.Fatalf("%v\n%s", err, out)
			}
			if err != nil {
				refused++
			}
			s.kubectl("uncordon", node.Name())
		}
		if refused == 0 {
			s.T.Error("every pod was evicted")
		}
		s.Manager.Start()
		s.whole(vkc)
		w.Check(s.T)
		s.empty(vkc.Namespace, vkc)
	})
}

// statuses are those of a cluster since a moment, as they were written.
type statuses struct {
	stop context.CancelFunc
	done chan struct{}
	list []valkeyv1.ValkeyClusterStatus
	seen []time.Time // when each was
}

func (s *stage) record(vkc *valkeyv1.ValkeyCluster) *statuses {
	s.T.Helper()
	watcher, err := client.NewWithWatch(s.Bed.Config(), client.Options{Scheme: s.Client.Scheme()})
	s.must(err)
	ctx, cancel := context.WithCancel(s.T.Context())
	events, err := watcher.Watch(ctx, &valkeyv1.ValkeyClusterList{}, client.InNamespace(vkc.Namespace))
	s.must(err)
	r := &statuses{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for e := range events.ResultChan() {
			if c, is := e.Object.(*valkeyv1.ValkeyCluster); is && e.Type == watch.Modified {
				r.list, r.seen = append(r.list, c.Status), append(r.seen, time.Now())
			}
		}
	}()
	return r
}

// neverReady fails if a status that was written since said Ready.
func (s *stage) neverReady(r *statuses) {
	s.T.Helper()
	r.stop()
	<-r.done
	for _, status := range r.list {
		if c := apimeta.FindStatusCondition(status.Conditions, fsm.Ready); c != nil && c.Status == metav1.ConditionTrue {
			s.T.Errorf("Ready although a shard is lost: %s with %s slots: %s", status.Phase, status.AssignedSlots, c.Message)
		}
	}
}

// unreadyWithin is how long Ready may outlive the servers of a shard: their kubelet has to see first that they ended.
const unreadyWithin = 5 * time.Second

// unready is how long after a moment it was written that the cluster is not Ready, which comes before anything else.
func (r *statuses) unready(t *testing.T, since time.Time, stalled time.Duration) {
	t.Helper()
	if len(r.seen) == 0 {
		t.Fatal("no status was written")
	}
	took := r.seen[0].Sub(since)
	harness.Row(t, "not Ready after %s", took.Round(100*time.Millisecond))
	if took > unreadyWithin+stalled {
		t.Errorf("Ready for %s without a shard; the machine stood still for %s", took, stalled)
	}
}

// keysOf is how many keys a server has.
func (s *stage) keysOf(vkc *valkeyv1.ValkeyCluster, pod string) int {
	s.T.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s.exec(vkc.Namespace, pod, "valkey-cli", "dbsize")))
	s.must(err)
	return n
}

// lostNoMore checks that what was written is there, but for so many keys of a shard that was lost.
func (s *stage) lostNoMore(w *writer.Writer, lost int) {
	s.T.Helper()
	if is := w.Report(s.T); len(is) != lost || lost == 0 {
		s.T.Errorf("%d keys are lost; the shard that was had %d", len(is), lost)
	}
}

// lossIsTold waits until the cluster says that data was lost and that a person must act, and that an event warns of it.
func (s *stage) lossIsTold(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		is := s.fresh(vkc)
		ready, stalled := apimeta.FindStatusCondition(is.Status.Conditions, fsm.Ready), apimeta.FindStatusCondition(is.Status.Conditions, fsm.Stalled)
		if ready == nil || ready.Status != metav1.ConditionFalse || stalled == nil || stalled.Reason != string(cluster.ReasonDataLost) {
			return fmt.Errorf("is %s: %+v", is.Status.Phase, ready)
		}
		if apimeta.IsStatusConditionTrue(is.Status.Conditions, valkeyv1.Available) {
			return fmt.Errorf("available: %v", is.Status.Conditions)
		}
		out, err := s.Bed.Kubectl(s.T.Context(), "get", "events", "-n", vkc.Namespace, "--field-selector=type=Warning,reason=DataLost", "-o", "name")
		if err != nil || strings.TrimSpace(out) == "" {
			return fmt.Errorf("no event warns of it: %w", err)
		}
		return nil
	})
}

// recreated lets the cluster go on without what was lost.
func (s *stage) recreated(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	s.change(vkc, func(v *valkeyv1.ValkeyCluster) { v.Spec.OnTotalLoss = valkeyv1.RecreateOnTotalLoss })
	s.whole(vkc)
}

// TestCarelessLossIsTold deletes both pods of a shard at once, while no manager runs: when it is back it says so, and
// says nothing else before.
func TestCarelessLossIsTold(t *testing.T) {
	forEachEngine(t, func(s *stage, engine string) {
		vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = engine })
		w.Stop()
		had := s.keysOf(vkc, vkc.Status.Shards[1].Primary)
		s.Manager.Stop()
		s.loseShards(vkc, "1")
		statuses := s.record(vkc)
		s.Manager.Start()
		s.lossIsTold(vkc)
		s.neverReady(statuses)
		s.recreated(vkc)
		s.lostNoMore(w, had)
		s.empty(vkc.Namespace, vkc)
	})
}

// TestCarelessRestartInPlace kills both servers of a shard at once. They are started again where they were, and know what
// they had: from then on the cluster is not Ready until a person has decided, and what other shards have stays.
func TestCarelessRestartInPlace(t *testing.T) {
	forEachEngine(t, func(s *stage, engine string) {
		vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = engine })
		s.noted(vkc)
		w.Stop()
		pods, had := s.pods(vkc), s.keysOf(vkc, vkc.Status.Shards[1].Primary)
		statuses := s.record(vkc)
		stall, began := harness.StartStall(s.T), time.Now()
		for _, name := range []string{vkc.Status.Shards[1].Primary, s.replicaOf(vkc, 1)} {
			s.signal(pods[name], "SIGKILL")
		}
		s.lossIsTold(vkc)
		harness.Row(s.T, "told after %s", time.Since(began).Round(100*time.Millisecond))
		stalled := stall.Lap()
		s.stays(vkc)
		s.neverReady(statuses)
		statuses.unready(s.T, began, stalled)
		s.recreated(vkc)
		s.lostNoMore(w, had)
		s.empty(vkc.Namespace, vkc)
	})
}

// noted lets the probes of all servers note that they have keys: they look every five seconds. Meanwhile all is well.
func (s *stage) noted(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	harness.Consistently(s.T, 12*time.Second, time.Second, func() error {
		if is := s.fresh(vkc); !apimeta.IsStatusConditionTrue(is.Status.Conditions, fsm.Ready) {
			return fmt.Errorf("is %s: %s", is.Status.Phase, is.Status.WaitingFor)
		}
		return nil
	})
}

// stays looks for a while whether a loss that was told is still told.
func (s *stage) stays(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	harness.Consistently(s.T, 20*time.Second, time.Second, func() error {
		if is := s.fresh(vkc); apimeta.IsStatusConditionTrue(is.Status.Conditions, fsm.Ready) {
			return fmt.Errorf("is %s", is.Status.Phase)
		}
		return nil
	})
}

// TestCarelessScaleByHand scales StatefulSets to nothing by hand, with the manager away and then with the cluster paused: no
// volume goes, and no key is lost.
func TestCarelessScaleByHand(t *testing.T) {
	const class = "careless"
	provided := false
	forEachEngine(t, func(s *stage, engine string) {
		if !provided {
			s.must(s.Bed.LocalVolumes(s.T.Context(), class, 16))
			provided = true
		}
		vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) {
			v.Spec.Image, v.Spec.Persistence.Enabled, v.Spec.Persistence.StorageClassName = engine, true, new(class)
		})
		w.Stop()
		before := s.claimNames(vkc)
		s.Manager.Stop()
		s.kubectl("scale", "statefulset", "-n", vkc.Namespace, vkc.Name+"-1", "--replicas=0")
		s.shardGone(vkc, "1")
		s.Manager.Start()
		s.whole(vkc)
		s.change(vkc, func(v *valkeyv1.ValkeyCluster) { v.Spec.Paused = true })
		s.kubectl("scale", "statefulset", "-n", vkc.Namespace, vkc.Name+"-0", "--replicas=0")
		s.shardGone(vkc, "0")
		s.change(vkc, func(v *valkeyv1.ValkeyCluster) { v.Spec.Paused = false })
		s.whole(vkc)
		if after := s.claimNames(vkc); !slices.Equal(after, before) {
			s.T.Errorf("claims %v, were %v", after, before)
		}
		w.Check(s.T)
		s.empty(vkc.Namespace, vkc)
	})
}

func (s *stage) change(vkc *valkeyv1.ValkeyCluster, change func(*valkeyv1.ValkeyCluster)) {
	s.T.Helper()
	was := s.fresh(vkc).DeepCopy()
	change(vkc)
	s.must(s.Client.Patch(s.T.Context(), vkc, client.MergeFrom(was)))
}

// claimNames are the claims of a cluster, each with its UID.
func (s *stage) claimNames(vkc *valkeyv1.ValkeyCluster) (names []string) {
	s.T.Helper()
	var list corev1.PersistentVolumeClaimList
	s.must(s.Client.List(s.T.Context(), &list, client.InNamespace(vkc.Namespace)))
	for _, c := range list.Items {
		names = append(names, c.Name+" "+string(c.UID))
	}
	slices.Sort(names)
	return names
}

// shardGone waits until no pod of a shard is left.
func (s *stage) shardGone(vkc *valkeyv1.ValkeyCluster, shard string) {
	s.T.Helper()
	harness.Eventually(s.T, goneWithin, poll, func() error {
		for name, p := range s.pods(vkc) {
			if p.Labels[valkeyv1.ShardLabel] == shard {
				return fmt.Errorf("%s is there", name)
			}
		}
		return nil
	})
}
