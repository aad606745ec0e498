package act

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Movers is the part of the port to Valkey that moves slots.
type Movers interface {
	wire.Reader
	wire.Mover
}

// pace is how long is waited where servers have yet to get on by themselves.
const pace = 20 * time.Millisecond

var (
	errSilent   = errors.New("a server does not answer")
	errSenses   = errors.New("slots have no owner, or two")
	errJob      = errors.New("a server gave up moving slots")
	errNotGiven = errors.New("a slot may not be given yet")
)

// mover moves slots until the first shards own all of them, in equal shares. It knows
// nothing but what it sees: after any step it can be stopped, and another goes on.
type mover struct {
	servers Movers
	members []cluster.Place
	shards  int
	turned  func(context.Context) bool  // says that nobody wants them there any more; nil is that somebody does
	limit   func(context.Context) int64 // is how many bytes a server may send in a second; nil is as many as it can
	allowed allowance
	nodes   topology.Nodes // as last seen
	sent    map[int]bool   // shards that were told to send something
}

// step does one thing: finish what is open, or begin the next, or wait for either.
func (m *mover) step(ctx context.Context) (done bool, err error) {
	if err := m.look(ctx); err != nil {
		return false, err
	}
	if open := m.open(); len(open) > 0 {
		return false, m.transferAll(ctx, open)
	}
	if busy, err := m.busy(ctx); busy || err != nil {
		return false, err
	}
	if _, behind := cluster.NodesOfSlotShards(m.nodes, m.shards).Unsynced(); behind {
		return false, wait(ctx) // a batch that not all replicas have heard of is not over
	}
	if m.turned != nil && m.turned(ctx) {
		return true, nil
	}
	if m.limit != nil {
		m.allowed.perSecond = m.limit(ctx)
	}
	if spent, err := m.allowed.spent(ctx); spent || err != nil {
		return false, err
	}
	return m.begin(ctx)
}

// begin sends the next slots.
func (m *mover) begin(ctx context.Context) (done bool, err error) {
	moves, doubt := plan.Moves(cluster.Holdings(m.nodes, m.shards))
	switch {
	case doubt != "":
		return false, &fsm.Error{Class: fsm.Transient, Err: errSenses, Say: "No slots are moved: " + doubt + "."}
	case len(moves) == 0:
		return true, nil
	}
	m.allowed.begin(time.Now())
	whole, err := m.whole(ctx, moves)
	switch {
	case err != nil:
		return false, err
	case !whole:
		return false, m.transferAll(ctx, m.batches(moves))
	}
	if stops, err := m.stops(ctx, moves); stops || err != nil {
		return false, errors.Join(err, wait(ctx))
	}
	return false, m.send(ctx, moves)
}

// moveSlots begins to move slots. If the work before ended early, its error is this
// effect's: the object backs off by it.
func (a Cluster) moveSlots(key read.Key, e cluster.MoveSlots) error {
	m := &mover{servers: a.servers, members: e.At, shards: e.Shards, sent: map[int]bool{}}
	m.turned = func(ctx context.Context) bool {
		var c valkeyv1.ValkeyCluster
		return a.Cached.Get(ctx, key, &c) == nil && cluster.MoveIsOutdated(&c, e)
	}
	m.limit = func(ctx context.Context) int64 {
		var c valkeyv1.ValkeyCluster
		if err := a.Cached.Get(ctx, key, &c); err != nil {
			return m.allowed.perSecond
		}
		most := ptr.Deref(c.Spec.SlotMigration.MaxBytesPerSecond, resource.Quantity{})
		return most.Value()
	}
	return a.Work.Ensure(key, "", kube.WithoutResult(m.step))
}

// look asks all servers.
func (m *mover) look(ctx context.Context) error {
	m.nodes = make(topology.Nodes, len(m.members))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, at := range m.members {
		g.Go(func() error {
			server, err := m.servers.Ask(ctx, at.Addr)
			if err != nil || server.ID != at.ID || server.Mark != at.Mark {
				return saying(at.Pod, errSilent)
			}
			m.nodes[i] = topology.Node{Pod: topology.Pod{Name: at.Pod, Addr: at.Addr, Shard: at.Shard}, Server: server}
			return nil
		})
	}
	return g.Wait()
}

// busy waits while a server moves slots as a whole.
func (m *mover) busy(ctx context.Context) (bool, error) {
	for _, n := range m.nodes.Voters() {
		if !wire.MovesWhole(n.Server.Version) {
			continue
		}
		jobs, err := m.servers.SlotMigrations(ctx, targetOf(n))
		if err != nil {
			return false, err
		}
		for _, j := range jobs {
			if !j.Ended() && !j.Importing {
				return true, wait(ctx)
			}
		}
	}
	return false, nil
}

// primary is the server that owns the slots of a shard, or that its others follow.
func (m *mover) primary(shard int) (topology.Node, bool) {
	nodes := m.nodes.Shard(shard)
	if owner, owned := nodes.Owner(); owned {
		return owner, true
	}
	for _, n := range nodes {
		if n.Server.Self().Follows == "" {
			return n, true
		}
	}
	return topology.Node{}, false
}

func targetOf(n topology.Node) wire.Target {
	return wire.Target{Addr: n.Addr, ID: n.Server.ID, Mark: n.Server.Mark}
}

// saying names a pod and an error in words that may stand in a status.
func saying(pod string, err error) error {
	return &fsm.Error{Class: fsm.Transient, Err: fmt.Errorf("%s: %w", pod, err), Say: tellOf(pod, err)}
}

func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pace):
		return nil
	}
}
