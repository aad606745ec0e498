package act

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// listener is a server that remembers how it was asked to take over.
type listener struct {
	wire.Writer
	asked *[]string
}

// replying is what comes of asking any server.
type replying struct {
	Movers
	err error
}

func (r replying) Ask(context.Context, string) (*topology.Server, error) { return nil, r.err }

func (l listener) Failover(_ context.Context, at wire.Target, mode wire.FailoverMode) error {
	*l.asked = append(*l.asked, fmt.Sprintf("%s by %q", at.ID, mode))
	return nil
}

// podReader is an API server that answers every read with one pod, or an error.
type podReader struct {
	pod corev1.Pod
	err error
}

func (r podReader) Get(_ context.Context, _ read.Key, obj client.Object, _ ...client.GetOption) error {
	if r.err == nil {
		r.pod.DeepCopyInto(obj.(*corev1.Pod))
	}
	return r.err
}

func (podReader) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// endedPrimary is a cluster one of whose primaries has ended, the replica of it, and the proof that
// this one may take over unasked.
func endedPrimary(t *testing.T) (candidate cluster.Member, proof plan.FailoverProof) {
	t.Helper()
	c, m := stocked(t, "8.1.1")
	c.Stop(m.members[0].Addr)
	nodes := seen(t, c, m)
	nodes[0].UID, nodes[0].Ended = "u", true
	candidate = m.members[1].Member
	proof, doubt := plan.ProveForcedFailover(nodes, candidate.ID, time.Minute)
	if doubt != "" {
		t.Fatal(doubt)
	}
	return candidate, proof
}

// seen is all servers, silent ones as well.
func seen(t *testing.T, c *fake.Cluster, m *mover) (nodes topology.Nodes) {
	t.Helper()
	for _, at := range m.members {
		n := topology.Node{Pod: topology.Pod{Name: at.Pod, Addr: at.Addr, Shard: at.Shard}}
		n.Server, _ = c.Ask(t.Context(), at.Addr)
		nodes = append(nodes, n)
	}
	return nodes
}

// That a primary does not run is believed only from the API server itself, in that very
// moment; and even then the others are asked for their votes.
func TestAPrimaryIsPassedByOnlyIfItDoesNotRun(t *testing.T) {
	candidate, proof := endedPrimary(t)
	in := func(state corev1.ContainerState) podReader {
		return podReader{pod: corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", State: state}}}}}
	}
	forced := []string{candidate.ID + ` by "FORCE"`}
	for name, tc := range map[string]struct {
		live  podReader
		asked []string
		class fsm.ErrorClass // of the error; "" is none
	}{
		"its container has ended": {in(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}), forced, ""},
		"it waits to be started":  {in(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}), forced, ""},
		"its pod is gone":         {podReader{err: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web-0-0")}, forced, ""},
		"it runs again":           {in(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), nil, fsm.Changed},
		"nobody knows":            {podReader{err: errors.New("the API server does not answer")}, nil, fsm.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			a := Cluster{Connect: to(listener{asked: &asked}), Live: read.Live{Reader: tc.live}}
			_, err := a.Act(t.Context(), &valkeyv1.ValkeyCluster{}, cluster.Failover{At: candidate, Gone: []string{"web-0-0"}, Proof: proof})
			if fmt.Sprint(asked) != fmt.Sprint(tc.asked) || (err == nil) != (tc.class == "") || err != nil && fsm.ClassOf(err) != tc.class {
				t.Errorf("asked %v, %v", asked, err)
			}
		})
	}
}

// That nobody listens at a pod is found out anew, too: its kubelet may know nothing of it yet.
func TestAPrimaryIsPassedByOnlyIfItRefusesConnections(t *testing.T) {
	candidate, proof := endedPrimary(t)
	runs := podReader{pod: corev1.Pod{Status: corev1.PodStatus{PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{
		{Name: "valkey", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}}}
	behindProxy := podReader{pod: *runs.pod.DeepCopy()}
	behindProxy.pod.Annotations = map[string]string{"ambient.istio.io/redirection": "enabled"}
	forced := []string{candidate.ID + ` by "FORCE"`}
	for name, tc := range map[string]struct {
		live    podReader
		answers error
		asked   []string
		class   fsm.ErrorClass // of the error; "" is none
	}{
		"nobody does":     {runs, fmt.Errorf("%w: %w", wire.ErrUnreachable, wire.ErrConnectionRefused), forced, ""},
		"its pod is gone": {podReader{err: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web-0-0")}, nil, forced, ""},
		"it answers":      {runs, nil, nil, fsm.Changed},
		"it has moved":    {podReader{}, wire.ErrConnectionRefused, nil, fsm.Changed},
		"it is silent":    {runs, wire.ErrUnreachable, nil, fsm.Changed},
		"a proxy may":     {behindProxy, fmt.Errorf("%w: %w", wire.ErrUnreachable, wire.ErrConnectionRefused), nil, fsm.Changed},
		"nobody knows":    {podReader{err: errors.New("the API server does not answer")}, wire.ErrConnectionRefused, nil, fsm.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			servers := struct {
				wire.Writer
				Movers
			}{listener{asked: &asked}, replying{err: tc.answers}}
			connect := func(context.Context, read.Key) (Servers, error) { return servers, nil }
			a := Cluster{Connect: connect, Live: read.Live{Reader: tc.live}}
			_, err := a.Act(t.Context(), &valkeyv1.ValkeyCluster{}, cluster.Failover{At: candidate, Refusing: []string{"web-0-0"}, Proof: proof})
			if fmt.Sprint(asked) != fmt.Sprint(tc.asked) || (err == nil) != (tc.class == "") || err != nil && fsm.ClassOf(err) != tc.class {
				t.Errorf("asked %v, %v", asked, err)
			}
		})
	}
}

// A proof is of one server: it does not let another take over, and none is forgotten by it.
func TestAProofIsOfOneServer(t *testing.T) {
	candidate, proof := endedPrimary(t)
	var asked []string
	a := Cluster{Connect: to(listener{asked: &asked})}
	other := candidate
	other.ID = "another"
	if _, err := a.Act(t.Context(), &valkeyv1.ValkeyCluster{}, cluster.Failover{At: other, Proof: proof}); !errors.Is(err, errUnproven) || len(asked) > 0 {
		t.Errorf("asked %v, %v", asked, err)
	}
}

// A primary that lives is asked first: what a replica lacks would be lost.
func TestALivingPrimaryIsAsked(t *testing.T) {
	c, m := stocked(t, "8.1.1")
	proof, doubt := plan.ProveFailover(seen(t, c, m), m.members[1].ID, 1<<20)
	if doubt != "" {
		t.Fatal(doubt)
	}
	var asked []string
	a := Cluster{Connect: to(listener{asked: &asked})}
	_, err := a.Act(t.Context(), &valkeyv1.ValkeyCluster{}, cluster.Failover{At: m.members[1].Member, Proof: proof})
	if fmt.Sprint(asked) != fmt.Sprint([]string{m.members[1].ID + ` by ""`}) || err != nil {
		t.Errorf("asked %v, %v", asked, err)
	}
}
