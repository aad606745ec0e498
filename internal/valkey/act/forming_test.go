package act

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

var servers = flag.String("servers", "", "addresses of real servers that may be wiped, separated by commas; default six of the fake")

// look is as often as a sampler does while a cluster is made.
const look = 100 * time.Millisecond

// TestForming lets the machine form a cluster of servers, real or fake, with nothing
// of Kubernetes around it, and says how long that took.
func TestForming(t *testing.T) {
	c := fakes(t)
	if *servers != "" {
		c = wiretest.Real(strings.Split(*servers, ","), timeout.Wait)(t)
	}
	f := newForming(c)
	began := time.Now()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for f.obj.Status.Phase != cluster.Running {
		if time.Since(began) > timeout.Wait {
			t.Fatalf("%s after %s: %s", f.obj.Status.Phase, timeout.Wait, f.obj.Status.WaitingFor)
		}
		if again := f.pass(t); again > 0 {
			<-ticker.C
		}
	}
	t.Logf("%d servers formed a cluster in %s", len(c.Addrs), time.Since(began).Round(time.Millisecond))
	for _, h := range f.obj.Status.History {
		t.Logf("%s %s", h.To, f.entered[h.To].Sub(began).Round(time.Millisecond))
	}
}

func fakes(t *testing.T) wiretest.Cluster {
	t.Helper()
	c := fake.New()
	var addrs []string
	for i := range 6 {
		addrs = append(addrs, fmt.Sprintf("10.0.0.%d:6379", i+1))
		c.Start(addrs[i], "8.1.1")
	}
	return wiretest.Cluster{Reader: c, Writer: c, Addrs: addrs, Until: func(context.Context, func() bool) error { c.Settle(); return nil }}
}

// forming is a cluster whose children all exist, and whose servers are to be formed.
type forming struct {
	servers wiretest.Cluster
	obj     *valkeyv1.ValkeyCluster
	world   cluster.World
	act     Cluster
	entered map[fsm.Phase]time.Time
}

func newForming(c wiretest.Cluster) *forming {
	masters := len(c.Addrs) / 2
	return &forming{
		servers: c,
		obj: &valkeyv1.ValkeyCluster{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "c1", Generation: 1},
			Spec:       valkeyv1.ValkeyClusterSpec{Masters: int32(masters), ReplicasPerMaster: ptr.To(int32(1))}, //nolint:gosec // a few
		},
		world: cluster.World{
			Shape:       cluster.Even(masters, 1),
			Children:    []cluster.Child{{Ref: cluster.Ref{Kind: cluster.KindConfigMap, Name: "web"}, UID: "u", Current: true, Settled: true}},
			Reservation: reserve.Fact{State: reserve.Ours},
		},
		act:     Cluster{Connect: to(c)},
		entered: map[fsm.Phase]time.Time{},
	}
}

// to is a Connector to servers that move no slots.
func to(servers wire.Writer) Connector {
	return func(context.Context, read.Key) (Servers, error) {
		return struct {
			wire.Writer
			Movers
		}{Writer: servers}, nil
	}
}

// pass is one turn of a controller, without the API server.
func (f *forming) pass(t *testing.T) time.Duration {
	t.Helper()
	ctx := t.Context()
	if err := f.servers.Until(ctx, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	f.world.Nodes = nil
	for i, addr := range f.servers.Addrs {
		n := topology.Node{Pod: topology.Pod{Name: fmt.Sprintf("web-%d-%d", i/2, i%2), UID: addr, Shard: i / 2, Ordinal: i % 2, Addr: addr, Ready: true}}
		n.Server, _ = f.servers.Ask(ctx, addr)
		f.world.Nodes = append(f.world.Nodes, n)
	}
	in := fsm.Input[*valkeyv1.ValkeyCluster, cluster.World]{Obj: f.obj, World: f.world, Now: time.Now()}
	s, err := cluster.Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []fsm.Outcome
	for _, e := range s.Decision.Do {
		_, err := f.act.Act(ctx, f.obj, e)
		outcomes = append(outcomes, fsm.Outcome{Effect: e, Err: err})
		if err != nil {
			t.Logf("%s: %v", e, err)
			break
		}
	}
	next := cluster.Machine.Reduce(in, s, outcomes)
	f.obj = next.Obj
	for _, h := range next.Hops {
		f.entered[h.To] = time.Now()
	}
	return next.Again
}

// Errors of servers keep their words from try to try, and their class says whether
// it helps to try again.
func TestClassify(t *testing.T) {
	for kind, class := range classes {
		err := classify("web-0-0", fmt.Errorf("tell 10.0.0.1:6379 at 12:00: %w", kind))
		if fsm.ClassOf(err) != class || fsm.StatusMessage(err) != "Pod web-0-0: "+kind.Error()+"." {
			t.Errorf("%v: %s, %q", kind, fsm.ClassOf(err), fsm.StatusMessage(err))
		}
	}
	if err := classify("web-0-0", nil); err != nil {
		t.Error(err)
	}
	_, err := Cluster{Connect: to(fake.New())}.Act(t.Context(), &valkeyv1.ValkeyCluster{}, cluster.AddSlots{At: cluster.Member{Pod: "web-0-0", Addr: "10.0.0.9:6379"}})
	if fsm.ClassOf(err) != fsm.Transient || fsm.StatusMessage(err) != "Pod web-0-0: "+wire.ErrUnreachable.Error()+"." {
		t.Errorf("a server that is not there: %v", err)
	}
}
