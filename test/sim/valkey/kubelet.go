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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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
	othersWithin = time.Minute
	othersPoll   = 50 * time.Millisecond
)

// kubelet plays the node. The pods themselves are made by the StatefulSet
// controller of the cluster and bound by its scheduler: it waits until they are
// done, so that a story is told the same way every time.
type kubelet struct {
	world   *sim.World
	servers *fake.Cluster
	startAt time.Time // of pods that were made
	talkAt  time.Time
	born    int
	aged    time.Time         // how far the servers' clock is
	gone    map[string]string // servers that were stopped, by address, until nobody knows them

	stirred atomic.Bool // a server was told something, and the others may not have heard
	looked  int         // the world's version of what follows
	sets    []appsv1.StatefulSet
	pods    []corev1.Pod
}

// meanwhile lets one thing happen: pods are made, pods start, servers talk.
func (k *kubelet) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	if err := k.look(); err != nil {
		return false, next, err
	}
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
func (k *kubelet) look() error {
	version := k.world.Version()
	if version == k.looked {
		return nil
	}
	k.looked, k.sets, k.pods = version, nil, nil
	for _, u := range k.world.All(statefulSetKind) {
		var set appsv1.StatefulSet
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &set); err != nil {
			return err
		}
		k.sets = append(k.sets, set)
	}
	for _, u := range k.world.All(podKind) {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &pod); err != nil {
			return err
		}
		k.pods = append(k.pods, pod)
	}
	return nil
}

// made says that the StatefulSet controller has answered: every pod exists and is
// bound, and is counted as what it is.
func (k *kubelet) made() bool {
	exist, ready := map[string]int32{}, map[string]int32{}
	for i := range k.pods {
		pod := &k.pods[i]
		if owner := metav1.GetControllerOf(pod); owner != nil && pod.Spec.NodeName != "" {
			exist[owner.Name]++
			if pod.Status.PodIP != "" {
				ready[owner.Name]++
			}
		}
	}
	for i := range k.sets {
		s := &k.sets[i]
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

// String lists the pods as the record and as the kubelet has them: what is wrong when
// servers do not answer.
func (k *kubelet) String() string {
	var b strings.Builder
	for _, u := range k.world.All(podKind) {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		ip, _, _ := unstructured.NestedString(u.Object, "status", "podIP")
		fmt.Fprintf(&b, "%s %s %s %q, ", u.GetName(), u.GetResourceVersion(), phase, ip)
	}
	fmt.Fprintf(&b, "%d known to the kubelet, %d idle, start at %s of %s", len(k.pods), len(idle(k.pods)), k.startAt, k.world.Now())
	return b.String()
}

// await looks at what others do until they are done.
func (k *kubelet) await(ctx context.Context) error {
	ticker := time.NewTicker(othersPoll)
	defer ticker.Stop()
	for until := time.Now().Add(othersWithin); ; <-ticker.C {
		if _, err := k.world.Sync(ctx, statefulSetKind, podKind); err != nil {
			return err
		}
		if err := k.look(); err != nil || k.made() {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the cluster's controllers did not answer within %s", othersWithin)
		}
	}
}
