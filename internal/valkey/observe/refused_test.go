package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// replies is what comes of asking, by address.
type replies map[string]error

func (r replies) Ask(_ context.Context, addr string) (*topology.Server, error) {
	if err := r[addr]; err != nil {
		return nil, fmt.Errorf("ask %s: %w", addr, err)
	}
	return &topology.Server{ID: addr}, nil
}

// Who refuses is known not to listen, who is silent may be anything.
func TestWhoRefusesIsToldFromWhoIsSilent(t *testing.T) {
	servers := replies{"10.0.0.2:6379": fmt.Errorf("%w: %w", wire.ErrUnreachable, wire.ErrConnectionRefused), "10.0.0.3:6379": wire.ErrUnreachable}
	pods := []corev1.Pod{runningPod("web-0-0", "10.0.0.1", "web-0"), runningPod("web-1-0", "10.0.0.2", "web-1"), runningPod("web-2-0", "10.0.0.3", "web-2")}
	s := Servers{Cached: shelf{pods: pods}, Connect: func(context.Context, read.Key) (wire.Reader, error) { return servers, nil }}
	got, err := s.Take(t.Context(), web)
	if err != nil || len(got.Servers) != 1 || got.Servers["10.0.0.1:6379"] == nil || !maps.Equal(got.Refused, map[string]bool{"10.0.0.2:6379": true}) {
		t.Errorf("%+v, %v", got, err)
	}
	servers["10.0.0.3:6379"] = wire.ErrConnectionRefused
	next, err := s.Take(t.Context(), web)
	if err != nil || Same(got, next) {
		t.Error("that another refuses is nothing new")
	}
}

func TestPrimariesAreThoseWithSlots(t *testing.T) {
	a := Answers{Servers: map[string]*topology.Server{
		"a": {ID: "a", View: []topology.Peer{{ID: "a", Claim: topology.Claim{Slots: "0-16383"}}}},
		"b": {ID: "b", View: []topology.Peer{{ID: "b", Claim: topology.Claim{Follows: "a"}}}},
		"c": {ID: "c", View: []topology.Peer{{ID: "c"}}},
	}}
	if got := a.Primaries(); len(got) != 1 || got[0] != "a" {
		t.Error(got)
	}
}

// aging answers by how young what is asked for is to be.
type aging struct{ asked []time.Duration }

func (a *aging) Last(read.Key) read.Sample[Answers] { return read.Sample[Answers]{} }

func (a *aging) Fresh(_ context.Context, _ read.Key, young time.Duration) read.Sample[Answers] {
	a.asked = append(a.asked, young)
	return read.Sample[Answers]{Value: Answers{
		Servers: map[string]*topology.Server{"10.0.0.1:6379": {ID: "a"}},
		Refused: map[string]bool{"10.0.0.2:6379": true},
	}}
}

// Who refuses may be passed by: that is not decided by what was so a while ago.
func TestWhoRefusesIsLookedAtAnew(t *testing.T) {
	ready := runningPod("web-0-0", "10.0.0.1", "web-0")
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	a := &aging{}
	o := Cluster{Servers: a, Work: idle{}}
	if _, err := o.answers(t.Context(), &valkeyv1.ValkeyCluster{}, []corev1.Pod{ready}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.asked, []time.Duration{youngAtRest, youngWhileMaking}) {
		t.Errorf("asked for what is younger than %v", a.asked)
	}
}

// A refusal counts only where nobody but the server can refuse, and where it is to count at all.
func TestARefusalIsBelievedOfTheServerAlone(t *testing.T) {
	enabled := map[string]string{"ambient.istio.io/redirection": "enabled"}
	for name, tc := range map[string]struct {
		annotations map[string]string
		await       bool
		want        bool
	}{
		"nobody else listens there":    {nil, false, true},
		"a proxy of the node does":     {enabled, false, false},
		"the kubelet is to be awaited": {nil, true, false},
	} {
		pod := runningPod("web-0-0", "10.0.0.1", "web-0")
		pod.Annotations = tc.annotations
		o := Cluster{Cached: shelf{pods: []corev1.Pod{pod}}, Servers: sampled(Answers{Refused: map[string]bool{"10.0.0.1:6379": true}}), Work: idle{}, AwaitKubelet: tc.await}
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "web-0"}}
		nodes, err := o.nodes(t.Context(), c, record{shape: cluster.Even(1, 0), shards: map[string]*appsv1.StatefulSet{"web-0": set}})
		if err != nil || len(nodes) != 1 || nodes[0].Refused != tc.want {
			t.Errorf("%s: %+v, %v", name, nodes, err)
		}
	}
}
