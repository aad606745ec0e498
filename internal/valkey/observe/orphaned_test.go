package observe

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// left is a pod of the first shard as its StatefulSet left it.
func left(name string, by ...metav1.OwnerReference) corev1.Pod {
	p := runningPod(name, "10.0.0.1", "web-0")
	p.Labels = map[string]string{valkeyv1.ClusterLabel: "web", valkeyv1.ShardLabel: "0"}
	p.OwnerReferences = by
	return p
}

// TestAPodThatLostItsStatefulSetIsNotGone: it runs on, and is adopted as soon as there is a StatefulSet again. Whoever took
// it for gone would let a replica take over beside a primary that serves.
func TestAPodThatLostItsStatefulSetIsNotGone(t *testing.T) {
	old := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web-0", UID: "old", Controller: ptr.To(true)}
	other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-0", UID: "r1", Controller: ptr.To(true)}
	set := shardOf("c1", 0)
	for what, tc := range map[string]struct {
		pod    corev1.Pod
		formed bool
		set    *appsv1.StatefulSet
		want   bool
	}{
		"nobody controls it":                  {left("web-0-0"), true, nil, true},
		"the one that is gone still does":     {left("web-0-0", old), true, nil, true},
		"its new one has not adopted it yet":  {left("web-0-0"), true, &set, true},
		"its new one is another":              {left("web-0-0", old), true, &set, false},
		"something else controls it":          {left("web-0-0", other), true, nil, false},
		"it is another shard's by its labels": {func() corev1.Pod { p := left("web-0-0"); p.Labels[valkeyv1.ShardLabel] = "1"; return p }(), true, nil, false},
		"the cluster is not formed yet":       {left("web-0-0"), false, nil, false},
	} {
		shelf := shelf{pods: []corev1.Pod{tc.pod}}
		o := Cluster{Cached: shelf, Live: read.Live{Reader: shelf}, Servers: said{"10.0.0.1:6379": &topology.Server{ID: "a"}}, Work: idle{}}
		of := record{formed: tc.formed, shape: cluster.Shape{0}, shards: map[string]*appsv1.StatefulSet{}}
		if tc.set != nil {
			of.shards["web-0"] = tc.set
		}
		nodes, err := o.nodes(t.Context(), clusterOf(3, 3), of)
		if err != nil || (nodes[0].UID != "") != tc.want {
			t.Errorf("%s: %+v, %v", what, nodes, err)
		}
	}
}

// TestAShardThatLostItsStatefulSetKeepsItsWidth: one that is made anew with less would remove servers.
func TestAShardThatLostItsStatefulSetKeepsItsWidth(t *testing.T) {
	others := map[string]*appsv1.StatefulSet{}
	for i, replicas := range []int32{1, 2} {
		s := shardOf("c1", i+1)
		s.Spec.Replicas = ptr.To(replicas)
		others[s.Name] = &s
	}
	foreign := left("web-0-3")
	foreign.OwnerReferences = controlledBy(types.UID("somebody"))
	o := Cluster{Cached: shelf{pods: []corev1.Pod{left("web-0-0"), left("web-0-2"), foreign}}}
	c := clusterOf(3, 3)
	c.Spec.ReplicasPerMaster = ptr.To[int32](1)
	if shape, err := o.recorded(t.Context(), c, others); err != nil || !slices.Equal(shape, cluster.Shape{2, 0, 1}) {
		t.Errorf("%v, %v", shape, err)
	}
}
