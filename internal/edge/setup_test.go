package edge

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
)

func wiring() setuptest.Wiring {
	return setuptest.Wiring{
		Area: Area(), Wakes: slices.Concat(PoolWakes(&kube.Waker{}), PodWakes(&kube.Waker{})), Indexes: Indexes(),
		Changed: []func(client.Object){func(obj client.Object) {
			if n, is := obj.(*corev1.Node); is {
				n.Name, n.Spec.ProviderID = "edge-pump", node.ID{Cluster: cluster, Pool: "north", Device: "pump"}.String()
			}
		}},
		Lists: 1,
	}
}

func TestWhatIsWatchedIsCachedAndIndexed(t *testing.T) {
	if err := wiring().Cached(); err != nil {
		t.Error(err)
	}
	if err := wiring().Indexed(t.Context()); err != nil {
		t.Error(err)
	}
	if err := kube.CheckWakes(pool.Machine.Wakes, PoolWakes(&kube.Waker{})); err != nil {
		t.Error(err)
	}
	if err := kube.CheckWakes(pod.Machine.Wakes, PodWakes(&kube.Waker{})); err != nil {
		t.Error(err)
	}
}

// Of a cluster of thousands of pods and Nodes little is kept.
func TestWhatIsKeptOfOthers(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "x", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"}}
	p := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{}}}}
	stripPod(p)
	if p.Labels != nil || p.Spec.Containers != nil || p.UID != "u" || p.ResourceVersion != "7" || p.Spec.NodeName != "worker-1" {
		t.Errorf("%+v", p)
	}
	p = &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "edge-pump", Containers: []corev1.Container{{}}}}
	if stripPod(p); p.Labels == nil || p.Spec.Containers == nil {
		t.Error("a pod on a device is not kept whole")
	}
	n := &corev1.Node{ObjectMeta: meta, Spec: corev1.NodeSpec{ProviderID: "cloud://1"}, Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{}}}}
	if stripNode(n); n.Labels != nil || n.Status.Images != nil || n.Spec.ProviderID != "cloud://1" {
		t.Errorf("%+v", n)
	}
	n = &corev1.Node{ObjectMeta: meta, Spec: corev1.NodeSpec{ProviderID: node.ID{Cluster: cluster, Pool: "north", Device: "pump"}.String()}}
	if stripNode(n); n.Labels == nil {
		t.Error("a Node of a device is not kept whole")
	}
}

func TestAPoolIsSweptSoonerWhileSomethingIsOnItsWay(t *testing.T) {
	p := &pace{}
	a, b := read.Key{Name: "a"}, read.Key{Name: "b"}
	for i, step := range []struct {
		pod     read.Key
		pool    string
		changed int
		fast    bool // pool north, after that
	}{
		{a, "", 0, false}, {a, "north", 1, true}, {a, "north", 0, true}, {b, "north", 0, true}, {a, "", 0, true}, {b, "south", 2, false},
		{b, "", 1, false}, {a, "north", 1, true}, {a, "", 1, false},
	} {
		if changed := p.note(step.pod, step.pool); len(changed) != step.changed || (p.every("north") == inFlight) != step.fast {
			t.Errorf("step %d: %v changed, north every %s", i, changed, p.every("north"))
		}
	}
}
