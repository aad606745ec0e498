package observe

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// TestAMissingPodIsExplained: what the API server refuses is said only in events of the StatefulSet, and only of pods that
// it was told to make.
func TestAMissingPodIsExplained(t *testing.T) {
	refused := corev1.Event{LastTimestamp: metav1.Now(), Reason: "FailedCreate", Message: `create Pod web-0-1 in StatefulSet web-0 failed error: pods "web-0-1" is forbidden: exceeded quota: small`}
	for what, c := range map[string]struct {
		replicas int32
		known    int64
		want     bool
	}{
		"it was told to make it":              {2, 3, true},
		"it was told to make fewer":           {1, 3, false},
		"it does not know yet that it should": {2, 2, false},
	} {
		s := shardOf("c1", 0)
		s.Spec.Replicas, s.Generation, s.Status.ObservedGeneration = ptr.To(c.replicas), 3, c.known
		live := shelf{pods: []corev1.Pod{runningPod("web-0-0", "10.0.0.1", "web-0")}, events: []corev1.Event{refused}}
		o := Cluster{Cached: shelf{}, Live: read.Live{Reader: live}, Servers: said{"10.0.0.9:6379": &topology.Server{}}, Work: idle{}}
		of := record{formed: true, shape: cluster.Shape{1}, shards: map[string]*appsv1.StatefulSet{s.Name: &s}}
		nodes, err := o.nodes(t.Context(), clusterOf(3, 3), of)
		if err != nil {
			t.Fatal(err)
		}
		if n := nodes[1]; n.CannotBeMade() != c.want || strings.Contains(n.Trouble.Words, "exceeded quota: small") != c.want {
			t.Errorf("%s: %+v", what, n.Pod)
		}
		if nodes[0].Trouble.Is() {
			t.Errorf("%s: the pod that runs has trouble: %+v", what, nodes[0].Pod)
		}
	}
}
