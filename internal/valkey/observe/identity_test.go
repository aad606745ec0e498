package observe

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// shelf is a reader of a few objects, by kind, namespace and name.
type shelf struct {
	clusters []valkeyv1.ValkeyCluster
	configs  []corev1.ConfigMap
	pods     []corev1.Pod
	sets     []appsv1.StatefulSet
	events   []corev1.Event
}

func (s shelf) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	switch o := obj.(type) {
	case *valkeyv1.ValkeyCluster:
		for i := range s.clusters {
			if client.ObjectKeyFromObject(&s.clusters[i]) == key {
				s.clusters[i].DeepCopyInto(o)
				return nil
			}
		}
	case *corev1.ConfigMap:
		for i := range s.configs {
			if client.ObjectKeyFromObject(&s.configs[i]) == key {
				s.configs[i].DeepCopyInto(o)
				return nil
			}
		}
	case *corev1.Pod:
		for i := range s.pods {
			if client.ObjectKeyFromObject(&s.pods[i]) == key {
				s.pods[i].DeepCopyInto(o)
				return nil
			}
		}
	case *appsv1.StatefulSet:
		for i := range s.sets {
			if client.ObjectKeyFromObject(&s.sets[i]) == key {
				s.sets[i].DeepCopyInto(o)
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (s shelf) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if by := (&client.ListOptions{}).ApplyOptions(opts).FieldSelector; by == nil || by.Empty() {
		return fmt.Errorf("%T: all are listed, and not those of an index", list)
	}
	if pods, is := list.(*corev1.PodList); is {
		pods.Items = s.pods
	}
	if sets, is := list.(*appsv1.StatefulSetList); is {
		sets.Items = s.sets
	}
	if events, is := list.(*corev1.EventList); is {
		events.Items = s.events
	}
	return nil
}

// said is what servers said, all of them a moment ago.
type said map[string]*topology.Server

func (s said) Last(read.Key) read.Sample[Answers] {
	return read.Sample[Answers]{Value: Answers{Servers: s}, At: time.Now()}
}

func (s said) Fresh(_ context.Context, key read.Key, _ time.Duration) read.Sample[Answers] {
	return s.Last(key)
}

func controlledBy(uid types.UID) []metav1.OwnerReference {
	controls := true
	return []metav1.OwnerReference{{UID: uid, Controller: &controls}}
}

// runningPod is a pod of a StatefulSet at an address.
func runningPod(name, ip string, set types.UID) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid of " + name), OwnerReferences: controlledBy(set)},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip},
	}
}

// A pod's server is who answers at the pod, whatever it is called and whoever was there
// before; its shard is its StatefulSet. Neither is in its address.
func TestAPodIsWhoAnswersThere(t *testing.T) {
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}, Spec: valkeyv1.ValkeyClusterSpec{Masters: 3}}
	shards := map[string]*appsv1.StatefulSet{}
	for i := range 3 {
		name := fmt.Sprintf("web-%d", i)
		shards[name] = &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	}
	// Addresses were exchanged, and say nothing of ordinals: 10 is not one of them.
	pods := []corev1.Pod{
		runningPod("web-0-0", "10.0.0.12", "web-0"), runningPod("web-0-1", "10.0.0.10", "web-0"),
		runningPod("web-1-0", "10.0.0.2", "web-1"), runningPod("web-1-1", "10.0.0.1", "somebody else's"),
		runningPod("web-2-0", "", "web-2"),
	}
	answers := said{}
	for ip, id := range map[string]string{"10.0.0.12": "f", "10.0.0.10": "a", "10.0.0.2": "c", "10.0.0.1": "x"} {
		answers[ip+":6379"] = &topology.Server{ID: id}
	}
	o := Cluster{Cached: shelf{pods: pods}, Servers: answers, Work: idle{}}
	nodes, err := o.nodes(t.Context(), c, record{shape: cluster.Even(3, 1), shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, n := range nodes {
		id := "-"
		if n.Server != nil {
			id = n.Server.ID
		}
		got += fmt.Sprintf("%s is %s of %d/%d; ", n.Name, id, n.Shard, n.Ordinal)
	}
	const want = "web-0-0 is f of 0/0; web-0-1 is a of 0/1; web-1-0 is c of 1/0; web-1-1 is - of 1/1; web-2-0 is - of 2/0; web-2-1 is - of 2/1; "
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// That a cluster was never formed is believed only from the API server itself, and from
// nothing but its own ConfigMap.
func TestFormed(t *testing.T) {
	config := func(owner types.UID, mark string) shelf {
		return shelf{configs: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", OwnerReferences: controlledBy(owner), Annotations: map[string]string{valkeyv1.FormedAnnotation: mark},
		}}}}
	}
	for name, tc := range map[string]struct {
		cached, live shelf
		want         bool
	}{
		"both say so":                           {config("c1", "true"), config("c1", "true"), true},
		"the cache has not heard":               {config("c1", ""), config("c1", "true"), true},
		"the cache has no ConfigMap":            {shelf{}, config("c1", "true"), true},
		"neither says so":                       {config("c1", ""), config("c1", ""), false},
		"there is none":                         {shelf{}, shelf{}, false},
		"that of a cluster of this name before": {config("c0", "true"), config("c0", "true"), false},
	} {
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}}
		if got, err := (Cluster{Cached: tc.cached, Live: read.Live{Reader: tc.live}}).formed(t.Context(), c); got != tc.want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

// An upgrade is of a cluster of its own namespace, and of the one that it found there.
func TestAnUpgradeFindsItsCluster(t *testing.T) {
	of := func(namespace string, uid types.UID) shelf {
		return shelf{clusters: []valkeyv1.ValkeyCluster{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: uid}}}}
	}
	for name, tc := range map[string]struct {
		cached, live shelf
		found        string // the cluster that it found before
		want         types.UID
	}{
		"it is there":                         {of("shop", "c1"), of("shop", "c1"), "", "c1"},
		"one of its name is elsewhere":        {of("default", "c1"), of("default", "c1"), "", ""},
		"the cache has not heard of it":       {shelf{}, of("shop", "c1"), "", "c1"},
		"it is gone":                          {shelf{}, shelf{}, "c1", ""},
		"another has its name":                {of("shop", "c2"), of("shop", "c2"), "c1", ""},
		"another has its name, by the cache":  {of("shop", "c0"), of("shop", "c1"), "c1", "c1"},
		"it is the one that was found before": {of("shop", "c1"), of("shop", "c1"), "c1", "c1"},
	} {
		u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "to-9"}, Spec: valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: "web"}}}
		u.Status.ClusterUID = tc.found
		c, err := Upgrade{Cached: tc.cached, Live: read.Live{Reader: tc.live}}.cluster(t.Context(), u)
		if err != nil || (c == nil) != (tc.want == "") || c != nil && c.UID != tc.want {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

// A pod whose server ran once may have something in it, however it looks by now.
func TestAPodThatRanOnceHasRun(t *testing.T) {
	over := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	for name, status := range map[string]corev1.ContainerStatus{
		"it was restarted": {Name: "valkey", RestartCount: 1},
		"it has ended":     {Name: "valkey", State: over},
		"it ended before":  {Name: "valkey", LastTerminationState: over},
	} {
		if neverRan(&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{status}}}) {
			t.Errorf("%s: it is taken for one that never ran", name)
		}
	}
}
