package observe

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// marked is a pod whose server bears its mark.
func marked(p corev1.Pod) corev1.Pod {
	p.Spec.Containers = []corev1.Container{{Name: spec.ServerContainer, Args: []string{"--mark", "$(POD_UID)"}}}
	return p
}

// listening are servers by their addresses.
type listening map[string]*topology.Server

func (a listening) Ask(_ context.Context, addr string) (*topology.Server, error) {
	if a[addr] == nil {
		return nil, wire.ErrUnreachable
	}
	return a[addr], nil
}

// A dead node's pod keeps its address, at which another's server may answer by now: it is not the pod's server, and is not
// watched. Servers from before marks are accepted in pods from before marks, and nowhere else.
func TestAStrangerAtAPodsAddressIsNotItsServer(t *testing.T) {
	const addr, stranger = "10.0.0.1:6379", "bank/web-0-0/x"
	old := runningPod("web-0-0", "10.0.0.1", "web-0")
	young := marked(old)
	for name, tc := range map[string]struct {
		pod   corev1.Pod
		mark  string
		words string // about who answers in its place; "" is nobody
	}{
		"its own":                           {young, "shop/web-0-0/uid of web-0-0", ""},
		"that of the pod before it":         {young, "shop/web-0-0/uid of another", "the server of pod shop/web-0-0/uid of another"},
		"that of another cluster":           {young, stranger, "the server of pod " + stranger},
		"one that bears no mark":            {young, "", "a server that bears no pod's name"},
		"before marks: one that bears none": {old, "", ""},
		"before marks: one that bears one":  {old, stranger, "the server of pod " + stranger},
	} {
		t.Run(name, func(t *testing.T) {
			shop := shelf{pods: []corev1.Pod{tc.pod}}
			there := &topology.Server{ID: "a", Mark: tc.mark, View: []topology.Peer{{ID: "a", Claim: topology.Claim{Slots: "0-16383"}}}}
			s := Servers{Cached: shop, Connect: func(context.Context, read.Key) (wire.Reader, error) { return listening{addr: there}, nil }}
			answers, err := s.Take(t.Context(), read.Key{Namespace: "shop", Name: "web"})
			if err != nil {
				t.Fatal(err)
			}
			if watched := len(answers.Primaries()) == 1; watched != (tc.words == "") {
				t.Errorf("it is watched: %t", watched)
			}
			for from, answers := range map[string]Answers{"by its look": answers, "by an earlier look, at another pod": {Servers: listening{addr: there}}} {
				c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}}
				o := Cluster{Cached: shop, Servers: sampled(answers), Work: idle{}}
				set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: types.UID("web-0")}}
				nodes, err := o.nodes(t.Context(), c, record{shape: cluster.Even(1, 0), shards: map[string]*appsv1.StatefulSet{"web-0": set}})
				if err != nil || len(nodes) != 1 {
					t.Fatal(nodes, err)
				}
				if n := nodes[0]; n.Stranger != tc.words || (n.Server == nil) != (tc.words != "") || n.Server == nil && !n.MayRun() {
					t.Errorf("%s: server %v, stranger %q", from, n.Server, n.Stranger)
				}
			}
		})
	}
}

// sampled is what was seen at the last look.
type sampled Answers

func (s sampled) Last(read.Key) read.Sample[Answers] { return read.Sample[Answers]{Value: Answers(s)} }

func (s sampled) Fresh(context.Context, read.Key, time.Duration) read.Sample[Answers] {
	return s.Last(read.Key{})
}
