package act

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Whoever decided by an old copy of a StatefulSet takes no pod away by it.
func TestAShardIsNotMadeNarrowWithoutProof(t *testing.T) {
	for name, c := range map[string]struct {
		pods     int32
		replicas int
		proven   bool
		refused  bool
	}{
		"it is as wide as it seemed":       {1, 0, false, false},
		"it is wider by now":               {2, 0, false, true},
		"it is wider, and nothing is lost": {2, 0, true, false},
		"it is made wider":                 {1, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf{set: appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "s1"}, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To(c.pods)}}}
			e := cluster.ApplyChild{Child: cluster.Ref{Kind: cluster.KindStatefulSet, Name: "web-0"}, UID: "s1", Replicas: c.replicas, Keep: true}
			if c.proven {
				e.Proof = shrinkProof(t)
			}
			_, err := Cluster{Live: read.Live{Reader: s}}.shard(t.Context(), &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, e)
			if refused := err != nil && fsm.ClassOf(err) == fsm.Changed; refused != c.refused || err != nil && !refused {
				t.Errorf("error %v, want one: %t", err, c.refused)
			}
		})
	}
}

// shrinkProof allows to remove web-0-1.
func shrinkProof(t *testing.T) plan.ShrinkProof {
	t.Helper()
	self := topology.Peer{ID: "a", Linked: true, Claim: topology.Claim{Slots: topology.Share(0, 1)}}
	stays := topology.Node{Pod: topology.Pod{Name: "web-0-0", UID: "p0"}, Server: &topology.Server{ID: "a", OK: true, View: []topology.Peer{self}}}
	goes := topology.Node{Pod: topology.Pod{Name: "web-0-1", UID: "p1", Ordinal: 1, NeverRan: true}}
	proof, doubt := plan.ProveShrink(topology.Nodes{stays, goes}, []string{goes.Name}, 0)
	if doubt != "" {
		t.Fatal(doubt)
	}
	return proof
}
