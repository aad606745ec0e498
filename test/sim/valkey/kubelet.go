package valkey

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// By the plan's clock: how long a pod takes to start, and servers to talk.
const (
	startTakes  = 2 * time.Second
	gossipTakes = 100 * time.Millisecond
)

// By the machine's clock: how long the controllers of the cluster may take.
const (
	othersWithin = 30 * time.Second
	othersPoll   = 20 * time.Millisecond
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
}

// meanwhile lets one thing happen: pods are made, pods start, servers talk.
func (k *kubelet) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	sets, pods, err := k.seen()
	if err != nil {
		return false, next, err
	}
	now := k.world.Now()
	waiting := idle(pods)
	switch {
	case !made(sets, pods):
		k.startAt = now.Add(startTakes)
		return true, next, k.await(ctx, made)
	case len(waiting) > 0 && !now.Before(k.startAt):
		return true, next, k.start(ctx, waiting)
	case len(k.servers.Steps()) > 0 && !now.Before(k.talkAt):
		k.talkAt = now.Add(gossipTakes)
		for _, step := range k.servers.Steps() {
			k.servers.Deliver(step)
		}
		return true, next, nil
	case len(k.servers.Steps()) > 0:
		next = k.talkAt
	}
	if len(waiting) > 0 && (next.IsZero() || k.startAt.Before(next)) {
		next = k.startAt
	}
	return false, next, nil
}

// seen is what was last seen of StatefulSets and pods.
func (k *kubelet) seen() (sets []appsv1.StatefulSet, pods []corev1.Pod, err error) {
	for _, u := range k.world.All(statefulSetKind) {
		var set appsv1.StatefulSet
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &set); err != nil {
			return nil, nil, err
		}
		sets = append(sets, set)
	}
	for _, u := range k.world.All(podKind) {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &pod); err != nil {
			return nil, nil, err
		}
		pods = append(pods, pod)
	}
	return sets, pods, nil
}

// made says that the StatefulSet controller has answered: every pod exists and is
// bound, and is counted as what it is.
func made(sets []appsv1.StatefulSet, pods []corev1.Pod) bool {
	exist, ready := map[string]int32{}, map[string]int32{}
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil && pods[i].Spec.NodeName != "" {
			exist[owner.Name]++
			if pods[i].Status.PodIP != "" {
				ready[owner.Name]++
			}
		}
	}
	for i := range sets {
		s := &sets[i]
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

// idle are the pods that do not run yet.
func idle(pods []corev1.Pod) (waiting []*corev1.Pod) {
	for i := range pods {
		if pods[i].Status.PodIP == "" && pods[i].DeletionTimestamp == nil {
			waiting = append(waiting, &pods[i])
		}
	}
	return waiting
}

// await looks at what others do until it is as it should be.
func (k *kubelet) await(ctx context.Context, done func([]appsv1.StatefulSet, []corev1.Pod) bool) error {
	ticker := time.NewTicker(othersPoll)
	defer ticker.Stop()
	for until := time.Now().Add(othersWithin); ; <-ticker.C {
		if _, err := k.world.Sync(ctx, statefulSetKind, podKind); err != nil {
			return err
		}
		sets, pods, err := k.seen()
		if err != nil || done(sets, pods) {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the cluster's controllers did not answer within %s", othersWithin)
		}
	}
}

// start runs a server in each pod.
func (k *kubelet) start(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
		k.born++
		ip := fmt.Sprintf("10.0.0.%d", k.born)
		pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
		pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		k.servers.Start(ip+":6379", "8.1.1")
		if err := k.world.Client.Status().Update(ctx, pod); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return k.await(ctx, made)
}
