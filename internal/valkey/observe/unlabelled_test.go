package observe

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

func clusterOf(masters, known int32) *valkeyv1.ValkeyCluster {
	return &valkeyv1.ValkeyCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"},
		Spec:       valkeyv1.ValkeyClusterSpec{Masters: masters}, Status: valkeyv1.ValkeyClusterStatus{Masters: known},
	}
}

func shardOf(owner types.UID, i int) appsv1.StatefulSet {
	name := fmt.Sprintf("web-%d", i)
	return appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), OwnerReferences: controlledBy(owner)}}
}

// TestShardsWithoutLabelAreFound: a StatefulSet that lost its label is still the record of its cluster, and one of somebody
// else is not.
func TestShardsWithoutLabelAreFound(t *testing.T) {
	cached := shelf{sets: []appsv1.StatefulSet{shardOf("c1", 0)}}
	live := shelf{sets: []appsv1.StatefulSet{shardOf("c1", 0), shardOf("another", 1), shardOf("c1", 2), shardOf("c1", 4)}}
	for what, c := range map[string]struct {
		formed        bool
		wanted, known int32
		want          []string
	}{
		"a formed cluster":             {true, 3, 3, []string{"web-0", "web-2"}},
		"one that is to be smaller":    {true, 3, 5, []string{"web-0", "web-2", "web-4"}},
		"one that is not formed yet":   {false, 5, 5, []string{"web-0"}},
		"one whose status was lost":    {true, 3, 0, []string{"web-0", "web-2"}},
		"one that is to be larger yet": {true, 5, 3, []string{"web-0", "web-2", "web-4"}},
	} {
		o := Cluster{Cached: cached, Live: read.Live{Reader: live}}
		shards, err := o.shards(t.Context(), clusterOf(c.wanted, c.known), c.formed)
		var got []string
		for i := range 5 {
			if name := fmt.Sprintf("web-%d", i); shards[name] != nil {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s %v", what, diff, err)
		}
	}
}

// TestPodsWithoutLabelAreNotGone: what the cache lacks is read live. A pod that its StatefulSet still controls is its own; one
// that it gave up may run all the same.
func TestPodsWithoutLabelAreNotGone(t *testing.T) {
	s := shardOf("c1", 0)
	given := runningPod("web-0-1", "10.0.0.2", "web-0")
	given.OwnerReferences = nil
	live := shelf{pods: []corev1.Pod{runningPod("web-0-0", "10.0.0.1", "web-0"), given}}
	o := Cluster{Cached: shelf{}, Live: read.Live{Reader: live}, Servers: said{"10.0.0.9:6379": &topology.Server{}}, Work: idle{}}
	of := record{formed: true, shape: cluster.Shape{2}, shards: map[string]*appsv1.StatefulSet{s.Name: &s}}
	nodes, err := o.nodes(t.Context(), clusterOf(3, 3), of)
	if err != nil {
		t.Fatal(err)
	}
	if n := nodes[0]; n.UID == "" || n.Stray || !n.MayRun() {
		t.Errorf("the pod of its StatefulSet is seen as %+v", n.Pod)
	}
	if n := nodes[1]; n.UID != "" || !n.Stray || !n.MayRun() {
		t.Errorf("the pod that its StatefulSet gave up is seen as %+v", n.Pod)
	}
	if n := nodes[2]; n.UID != "" || n.Stray || n.MayRun() {
		t.Errorf("a pod that does not exist is seen as %+v", n.Pod)
	}
	of.formed = false // then pods are not read live
	if nodes, err = o.nodes(t.Context(), clusterOf(3, 3), of); err != nil || nodes[1].Stray {
		t.Errorf("before the cluster is formed: %+v, %v", nodes, err)
	}
}

// TestAChildWithoutLabelIsItself: it is found by name, with the UID by which it gets its label back.
func TestAChildWithoutLabelIsItself(t *testing.T) {
	c := clusterOf(3, 3)
	config := spec.ConfigMap(c)
	config.UID = "m1"
	for what, tc := range map[string]struct {
		label string
		want  bool
	}{
		"with its label":       {"web", false},
		"without":              {"", true},
		"with that of another": {"shop", true},
	} {
		config.Labels = map[string]string{valkeyv1.ClusterLabel: tc.label}
		live := read.Live{Reader: shelf{configs: []corev1.ConfigMap{*config}}}
		o := Cluster{Cached: shelf{}, Live: live, Children: read.Children{Live: live, Stamp: spec.Stamp}}
		is, err := o.child(t.Context(), c, cluster.World{}, spec.ConfigMap(c))
		if err != nil || is.UID != "m1" || is.Foreign || is.Unlabelled != tc.want {
			t.Errorf("%s: %+v, %v", what, is, err)
		}
	}
}
