package valkeywire

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/servers"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	lookEvery = 100 * time.Millisecond
	// givenUp is after how many seconds a pod that does not start is no longer waited for.
	givenUp = 20
)

// TestUpgrades lets the machine of an upgrade loose on real servers under a writer, with as
// little of Kubernetes around it as it needs: no write that was acknowledged is lost, whether
// it gets to its end, goes back or cannot go back. Without volumes the former version copies
// from the new one; with them it cannot read what the new one has left on disk.
func TestUpgrades(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		breaks   int  // from this shard on the new version does not start
		memory   bool // what is deleted comes back empty
		alone    bool // there are no replicas
		want     string
	}{
		"8.0 to 8.1":                 {"8.0", "8.1", 3, false, false, "Completed/AllCurrent"},
		"8.1 to 9.1":                 {"8.1", "9.1", 3, false, false, "Completed/AllCurrent"},
		"8.1 to 9.1 in memory":       {"8.1", "9.1", 3, true, false, "Completed/AllCurrent"},
		"8.1 in memory, and back":    {"8.1", "9.1", 1, true, false, "RolledBack/PodNotReady"},
		"8.0 to 9.1":                 {"8.0", "9.1", 3, false, false, "Completed/AllCurrent"},
		"9.1 to what does not start": {"9.1", "9.1", 0, false, false, "RolledBack/PodNotReady"},
		"8.1 to 9.1, which starts in the first shard only": {"8.1", "9.1", 1, false, false, "Failed/RollbackImpossible"},
		"8.1 to 9.1 without replicas":                      {"8.1", "9.1", 3, false, true, "Completed/AllCurrent"},
		"8.0 to 9.1 without replicas, in memory":           {"8.0", "9.1", 3, true, true, "Completed/AllCurrent"},
		"9.1 without replicas to what does not start":      {"9.1", "9.1", 0, false, true, "RolledBack/PodNotReady"},
		"8.1 without replicas, in memory, and back":        {"8.1", "9.1", 1, true, true, "RolledBack/PodNotReady"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := start(t, c.from)
			if err := wiretest.Form(t.Context(), servers); err != nil {
				t.Fatal(err)
			}
			replicas := 1
			if c.alone {
				servers, replicas = withoutReplicas(t, servers), 0
			}
			f := newFleet(t, servers, replicas, c.from, c.to)
			f.breaks, f.memory = c.breaks, c.memory
			if c.breaks < wiretest.Servers/2 {
				f.obj.Spec.PodReadyTimeoutSeconds = givenUp
			}
			w := startWriter(t, servers.Addrs)
			began := time.Now()
			if got := f.run(t); got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, f.obj.Status.Conditions)
			}
			t.Logf("%d moves in %s", f.moves, time.Since(began).Round(time.Second))
			if want := len(servers.Addrs); len(f.world.Nodes) != want {
				t.Errorf("%d pods are left of %d", len(f.world.Nodes), want)
			}
			servers.Addrs = nil
			for _, n := range f.world.Nodes.Shard(0) {
				servers.Addrs = append(servers.Addrs, n.Addr)
			}
			w.check(t, servers)
			// A process that is killed, and not asked to end, may take one request with it.
			if w.failed > len(f.world.Nodes) {
				t.Errorf("%d writes failed", w.failed)
			}
		})
	}
}

// fleet is a cluster of processes that stand for pods, and an upgrade of it.
type fleet struct {
	wiretest.Cluster
	processes *processes
	programs  map[string]string // by version
	breaks    int
	memory    bool
	healer    *healer
	obj       *valkeyv1.ValkeyUpgrade
	world     upgrade.World
	moves     int
}

func newFleet(t *testing.T, c wiretest.Cluster, replicas int, from, to string) *fleet {
	t.Helper()
	f := &fleet{Cluster: c, processes: c.Reader.(*processes), programs: map[string]string{},
		obj: &valkeyv1.ValkeyUpgrade{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "to-" + to, UID: "u1", CreationTimestamp: metav1.Now()},
			Spec: valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: "web"}, PodReadyTimeoutSeconds: int32(timeout.Wait.Seconds()),
				ReplicationSyncTimeoutSeconds: int32(timeout.Wait.Seconds()), Strategy: valkeyv1.Automatic},
		},
		world: upgrade.World{Cluster: upgrade.Cluster{Sight: presence.Here, UID: "c1", Phase: upgrade.ClusterRunning, Formed: true},
			Reservation: reserve.Fact{State: reserve.Free}, Template: to + "+"},
	}
	for _, version := range []string{from, to} {
		program, err := servers.Program(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		f.programs[version] = program
	}
	for i := range len(c.Addrs) / (1 + replicas) {
		name := fmt.Sprintf("web-%d", i)
		f.world.Shards = append(f.world.Shards, upgrade.Shard{Index: i, Name: name, UID: name, Template: from, Revision: from, Settled: true, Replicas: replicas})
		for j := range 1 + replicas {
			pod := fmt.Sprintf("%s-%d", name, j)
			f.world.Nodes = append(f.world.Nodes, topology.Node{Pod: topology.Pod{Name: pod, UID: pod, Shard: i, Ordinal: j, Addr: c.Addrs[(1+replicas)*i+j], Image: from, Version: "1"}})
		}
	}
	f.healer = newHealer(f, replicas)
	return f
}

// run passes until the upgrade has ended, and says how.
func (f *fleet) run(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*timeout.Wait)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !upgrade.Ended(f.obj.Status.Phase) {
		f.pass(ctx, t)
		select {
		case <-ctx.Done():
			t.Fatalf("%s after %s: %s", f.obj.Status.Phase, 2*timeout.Wait, f.obj.Status.WaitingFor)
		case <-tick.C:
		}
	}
	for _, c := range f.obj.Status.Conditions {
		if c.Type == fsm.Ready {
			t.Log(c.Message)
			return string(f.obj.Status.Phase) + "/" + c.Reason
		}
	}
	return string(f.obj.Status.Phase)
}

func (f *fleet) pass(ctx context.Context, t *testing.T) {
	t.Helper()
	f.look(ctx)
	in := fsm.Input[*valkeyv1.ValkeyUpgrade, upgrade.World]{Obj: f.obj, World: f.world, Now: time.Now()}
	in.World.Nodes, in.World.Shards = slices.Clone(f.world.Nodes), slices.Clone(f.world.Shards)
	s, err := upgrade.Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []fsm.Outcome
	for _, e := range s.Decision.Do {
		outcomes = append(outcomes, fsm.Outcome{Effect: e, Err: f.act(ctx, e)})
	}
	next := upgrade.Machine.Reduce(in, s, outcomes)
	f.obj, f.moves = next.Obj, f.moves+len(next.Hops)
	f.healer.obj.Spec.Persistence.Enabled = !f.memory
	f.healer.pass(ctx, t, f)
}

// look asks every server, as a kubelet and the operator do.
func (f *fleet) look(ctx context.Context) {
	for i := range f.world.Nodes {
		n := &f.world.Nodes[i]
		n.Server, _ = f.Ask(ctx, n.Addr)
		n.Ready = n.Server != nil && n.Server.Synced
		n.Ended, n.Trouble = false, podstate.Trouble{}
		if n.Server == nil && f.processes.ended(n.Addr) {
			n.Ended, n.Trouble = true, podstate.Trouble{Reason: podstate.CrashLoopBackOff}
		}
		n.Outdated = n.Image != f.world.Shards[n.Shard].Revision
	}
}

func (f *fleet) act(ctx context.Context, effect fsm.Effect) error {
	switch e := effect.(type) {
	case reserve.Take:
		f.world.Reservation.State = reserve.Ours
	case upgrade.DeletePod:
		return f.replace(e)
	case upgrade.Failover:
		return f.Failover(ctx, wire.Target{Addr: e.To.Addr, ID: e.To.ID}, wire.Agreed)
	}
	return nil
}

// replace lets a process come back by what its shard is to run, with its volume.
func (f *fleet) replace(e upgrade.DeletePod) error {
	i := slices.IndexFunc(f.world.Nodes, func(n topology.Node) bool { return n.Name == e.Name && n.UID == e.UID })
	if i < 0 {
		return nil
	}
	n := &f.world.Nodes[i]
	_ = f.processes.kill(n.Addr) // what has ended is gone already
	home := f.processes.homes[n.Addr]
	if f.memory {
		n.Addr, home = f.processes.address(), home+"'" // a new pod has another address, too
	}
	return f.begin(n, home)
}

// begin runs the process of a pod by what its shard is to run.
func (f *fleet) begin(n *topology.Node, home string) error {
	n.UID, n.Image = n.UID+"'", f.world.Shards[n.Shard].Revision
	f.processes.homes[n.Addr] = home
	version := n.Image
	if version == f.world.Template {
		version = version[:len(version)-1]
		if n.Shard >= f.breaks {
			return nil
		}
	}
	f.processes.program = f.programs[version]
	return f.processes.run(n.Addr, home)
}
