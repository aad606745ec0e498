//go:build full

package valkey

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// lap is how long something took: from the wish, from when its pods ran, and from when they were ready.
type lap struct{ whole, ran, ready time.Duration }

// TestCreateAgainstTheBareEngine measures create → Running against the same
// StatefulSets applied by hand plus valkey-cli --cluster create, in turns.
func TestCreateAgainstTheBareEngine(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	children := s.childrenOf()
	var ours, bare []lap
	for i := range harness.ByLevel(2, 6) {
		arms := []func(){
			func() { ours = append(ours, s.timeOurs()) },
			func() { bare = append(bare, s.timeBare(children)) },
		}
		if i%2 == 1 {
			slices.Reverse(arms)
		}
		for _, run := range arms {
			run()
		}
	}
	compare(t, "create → Running", ours, bare, func(l lap) time.Duration { return l.whole })
	compare(t, "pods running → Running", ours, bare, func(l lap) time.Duration { return l.ran })
	compare(t, "pods ready → Running", ours, bare, func(l lap) time.Duration { return l.ready })
}

func compare(t *testing.T, what string, ours, bare []lap, of func(lap) time.Duration) {
	t.Helper()
	var medians [2]time.Duration
	for i, laps := range [][]lap{ours, bare} {
		var took []time.Duration
		for _, l := range laps {
			took = append(took, of(l))
		}
		medians[i] = median(took)
	}
	harness.Row(t, "%s: %s ÷ bare %s = %.2f, medians of %d", what, medians[0].Round(time.Millisecond), medians[1].Round(time.Millisecond),
		medians[0].Seconds()/medians[1].Seconds(), len(ours))
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

func (s *stage) timeOurs() lap {
	s.T.Helper()
	namespace := bedtest.Namespace(s.T, s.Bed)
	began := time.Now()
	vkc := s.create(namespace)
	ready := make(chan time.Time, 1)
	go func() { ready <- s.ready(namespace, 6) }() // it may come before Running, or after
	ran := s.started(namespace, 6)
	s.running(vkc)
	done := time.Now()
	took := lap{done.Sub(began), done.Sub(ran), max(0, done.Sub(<-ready))}
	s.empty(namespace, vkc)
	return took
}

// ready is when all pods were ready.
func (s *stage) ready(namespace string, want int) time.Time {
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		_, err := s.readyPods(namespace, want)
		return err
	})
	return time.Now()
}

// started is when all pods ran.
func (s *stage) started(namespace string, want int) time.Time {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll/5, func() error {
		var pods corev1.PodList
		if err := s.Client.List(s.T.Context(), &pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		running := 0
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != want {
			return fmt.Errorf("%d of %d pods run", running, want)
		}
		return nil
	})
	return time.Now()
}

// childrenOf makes a cluster and copies what it is made of.
func (s *stage) childrenOf() []client.Object {
	s.T.Helper()
	namespace := bedtest.Namespace(s.T, s.Bed)
	vkc := s.create(namespace)
	s.running(vkc)
	var children []client.Object
	var services corev1.ServiceList
	var configs corev1.ConfigMapList
	var sets appsv1.StatefulSetList
	for _, list := range []client.ObjectList{&services, &configs, &sets} {
		if err := s.Client.List(s.T.Context(), list, client.InNamespace(namespace)); err != nil {
			s.T.Fatal(err)
		}
	}
	for i := range services.Items {
		services.Items[i].Spec.ClusterIP, services.Items[i].Spec.ClusterIPs = headless(services.Items[i].Spec.ClusterIP), nil
		children = append(children, &services.Items[i])
	}
	for i := range configs.Items {
		if configs.Items[i].Name != "kube-root-ca.crt" {
			children = append(children, &configs.Items[i])
		}
	}
	for i := range sets.Items {
		children = append(children, &sets.Items[i])
	}
	for _, child := range children {
		child.SetOwnerReferences(nil)
		child.SetManagedFields(nil)
		child.SetUID("")
		child.SetResourceVersion("")
	}
	s.empty(namespace, vkc)
	return children
}

func headless(ip string) string {
	if ip == corev1.ClusterIPNone {
		return ip
	}
	return ""
}

func (s *stage) timeBare(children []client.Object) lap {
	s.T.Helper()
	namespace := bedtest.Namespace(s.T, s.Bed)
	began := time.Now()
	var sets []client.Object
	for _, child := range children {
		child := child.DeepCopyObject().(client.Object)
		child.SetNamespace(namespace)
		if err := s.Client.Create(s.T.Context(), child); err != nil {
			s.T.Fatal(err)
		}
		if _, is := child.(*appsv1.StatefulSet); is {
			sets = append(sets, child)
		}
	}
	ran := s.started(namespace, 6)
	ready := s.ready(namespace, 6)
	servers, err := s.readyPods(namespace, 6)
	if err != nil {
		s.T.Fatal(err)
	}
	command := append([]string{"valkey-cli", "--cluster", "create"}, servers...)
	s.exec(namespace, name+"-0-0", append(command, "--cluster-replicas", "1", "--cluster-yes")...)
	done := time.Now()
	asked := time.Now()
	s.exec(namespace, name+"-0-0", "valkey-cli", "ping")
	reaching := time.Since(asked) // the pod, which is not the bare engine's to answer for
	s.empty(namespace, sets...)
	done = done.Add(-reaching)
	return lap{done.Sub(began), done.Sub(ran), done.Sub(ready)}
}

// readyPods are the addresses of all pods, once they are ready.
func (s *stage) readyPods(namespace string, want int) (addresses []string, err error) {
	var pods corev1.PodList
	if err := s.Client.List(s.T.Context(), &pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && metav1.GetControllerOf(pod) != nil {
			addresses = append(addresses, pod.Status.PodIP+":6379")
		}
	}
	if len(addresses) != want {
		return nil, fmt.Errorf("%d of %d pods are ready", len(addresses), want)
	}
	return addresses, nil
}
