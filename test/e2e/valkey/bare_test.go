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

// TestCreateAgainstTheBareEngine measures create → Running against the same
// StatefulSets applied by hand plus valkey-cli --cluster create, in turns.
func TestCreateAgainstTheBareEngine(t *testing.T) {
	s := newStage(t)
	harness.NewManager(t, s.b, area).Start()
	children := s.childrenOf()
	var ours, bare []time.Duration
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
	t.Logf("create → Running: ours %v, bare %v; medians %s ÷ %s = %.2f (target 1.1)",
		ours, bare, median(ours), median(bare), median(ours).Seconds()/median(bare).Seconds())
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

func (s *stage) timeOurs() time.Duration {
	s.t.Helper()
	namespace := bedtest.Namespace(s.t, s.b)
	began := time.Now()
	vkc := s.create(namespace)
	s.running(vkc)
	took := time.Since(began)
	s.empty(namespace, vkc)
	return took.Round(time.Millisecond)
}

// childrenOf makes a cluster and copies what it is made of.
func (s *stage) childrenOf() []client.Object {
	s.t.Helper()
	namespace := bedtest.Namespace(s.t, s.b)
	vkc := s.create(namespace)
	s.running(vkc)
	var children []client.Object
	var services corev1.ServiceList
	var configs corev1.ConfigMapList
	var sets appsv1.StatefulSetList
	for _, list := range []client.ObjectList{&services, &configs, &sets} {
		if err := s.c.List(s.t.Context(), list, client.InNamespace(namespace)); err != nil {
			s.t.Fatal(err)
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

func (s *stage) timeBare(children []client.Object) time.Duration {
	s.t.Helper()
	namespace := bedtest.Namespace(s.t, s.b)
	began := time.Now()
	var sets []client.Object
	for _, child := range children {
		child := child.DeepCopyObject().(client.Object)
		child.SetNamespace(namespace)
		if err := s.c.Create(s.t.Context(), child); err != nil {
			s.t.Fatal(err)
		}
		if _, is := child.(*appsv1.StatefulSet); is {
			sets = append(sets, child)
		}
	}
	var servers []string
	harness.Eventually(s.t, runningWithin, poll, func() (err error) {
		servers, err = s.readyPods(namespace, 6)
		return err
	})
	command := append([]string{"valkey-cli", "--cluster", "create"}, servers...)
	s.exec(namespace, name+"-0-0", append(command, "--cluster-replicas", "1", "--cluster-yes")...)
	took := time.Since(began)
	s.empty(namespace, sets...)
	return took.Round(time.Millisecond)
}

// readyPods are the addresses of all pods, once they are ready.
func (s *stage) readyPods(namespace string, want int) (addresses []string, err error) {
	var pods corev1.PodList
	if err := s.c.List(s.t.Context(), &pods, client.InNamespace(namespace)); err != nil {
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
