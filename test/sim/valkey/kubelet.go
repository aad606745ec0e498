package valkey

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// By the plan's clock: how long a pod takes to start, and servers to talk.
const (
	startTakes  = 2 * time.Second
	gossipTakes = 100 * time.Millisecond
	missEvery   = time.Second // how often servers look for those that are gone
)

// By the machine's clock: how long the controllers of the cluster may take.
const (
	othersWithin   = time.Minute
	othersPoll     = 50 * time.Millisecond
	othersPollMost = 400 * time.Millisecond
)

// kubelet plays the node. The pods themselves are made by the StatefulSet
// controller of the cluster and bound by its scheduler: it waits until they are
// done, so that a story is told the same way every time.
type kubelet struct {
	world   *sim.World
	servers *fake.Cluster
	startAt time.Time // of pods that were made
	talkAt  time.Time
	created int
	aged    time.Time         // how far the servers' clock is
	running map[string]string // servers by address: the pod that they run in
	gone    map[string]string // those that were stopped: their IDs, until nobody knows them

	stirred atomic.Bool           // a server was told something, and the others may not have heard
	looked  int                   // the world's version of what follows
	sets    []*appsv1.StatefulSet // shared, as are pods
	pods    []*corev1.Pod
}

// meanwhile lets one thing happen: pods are made, pods start, servers talk.
func (k *kubelet) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	k.look()
	now := k.world.Now()
	k.age(now)
	waiting := idle(k.pods)
	switch {
	case len(stopping(k.pods)) > 0:
		return true, next, k.stop(ctx)
	case !k.made():
		k.startAt = now.Add(startTakes)
		return true, next, k.await(ctx)
	case len(waiting) > 0 && !now.Before(k.startAt):
		return true, next, k.start(ctx, waiting)
	case k.stirred.Load() && !now.Before(k.talkAt):
		k.talkAt = now.Add(gossipTakes)
		return k.talk(), next, nil
	case k.stirred.Load():
		next = k.talkAt
	case k.missed():
		next = now.Add(missEvery)
	}
	if len(waiting) > 0 && (next.IsZero() || k.startAt.Before(next)) {
		next = k.startAt
	}
	return false, next, nil
}

// look takes in what was last seen of StatefulSets and pods.
func (k *kubelet) look() {
	version := k.world.Version()
	if version == k.looked {
		return
	}
	k.looked, k.sets, k.pods = version, nil, nil
	for _, obj := range k.world.Shown(statefulSetKind) {
		k.sets = append(k.sets, obj.(*appsv1.StatefulSet))
	}
	for _, obj := range k.world.Shown(podKind) {
		k.pods = append(k.pods, obj.(*corev1.Pod))
	}
}

// made says that the StatefulSet controller has answered: every pod exists and is
// bound, and is counted as what it is.
func (k *kubelet) made() bool {
	exist, ready := map[string]int32{}, map[string]int32{}
	for _, pod := range k.pods {
		if owner := metav1.GetControllerOf(pod); owner != nil && pod.Spec.NodeName != "" {
			exist[owner.Name]++
			if pod.Status.PodIP != "" {
				ready[owner.Name]++
			}
		}
	}
	for _, s := range k.sets {
		if s.DeletionTimestamp != nil {
			continue
		}
		if s.Status.ObservedGeneration < s.Generation || exist[s.Name] < *s.Spec.Replicas ||
			s.Status.Replicas < *s.Spec.Replicas || s.Status.ReadyReplicas != ready[s.Name] || s.Status.AvailableReplicas != ready[s.Name] {
			return false
		}
	}
	return true
}

// String lists the pods: what is wrong when servers do not answer.
func (k *kubelet) String() string {
	var b strings.Builder
	for _, pod := range k.pods {
		fmt.Fprintf(&b, "%s %s %s %q, ", pod.Name, pod.ResourceVersion, pod.Status.Phase, pod.Status.PodIP)
	}
	fmt.Fprintf(&b, "%d idle, start at %s of %s", len(idle(k.pods)), k.startAt, k.world.Now())
	return b.String()
}

// await looks at what others do until they are done, less and less often: to look is not
// cheap, and slows down whom it waits for.
func (k *kubelet) await(ctx context.Context) error {
	until := time.Now().Add(othersWithin)
	for poll := othersPoll; time.Now().Before(until); poll = min(2*poll, othersPollMost) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
		if _, err := k.world.Sync(ctx, statefulSetKind, podKind); err != nil {
			return err
		}
		if k.look(); k.made() {
			return nil
		}
	}
	return fmt.Errorf("the cluster's controllers did not answer within %s", othersWithin)
}
