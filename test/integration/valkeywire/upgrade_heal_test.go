package valkeywire

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// healer is the cluster's own machine beside an upgrade: what comes back empty joins by it.
type healer struct {
	obj   *valkeyv1.ValkeyCluster
	world cluster.World
}

func newHealer(f *fleet, wanted int) *healer {
	replicas := int32(wanted) //nolint:gosec // none, or one
	h := &healer{
		obj: &valkeyv1.ValkeyCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1", Generation: 1},
			Spec:       valkeyv1.ValkeyClusterSpec{Masters: int32(len(f.world.Shards)), ReplicasPerMaster: &replicas, NodeTimeoutSeconds: 2}, //nolint:gosec // three
		},
		world: cluster.World{Formed: true, Template: "t",
			Reservation: reserve.Fact{State: reserve.Others, Holder: f.obj.Name}, Upgrade: &cluster.Upgrade{Name: f.obj.Name}},
	}
	h.obj.Status.Phase = cluster.Running
	for _, s := range f.world.Shards {
		h.world.Children = append(h.world.Children, cluster.Child{Ref: cluster.Ref{Kind: cluster.KindStatefulSet, Name: s.Name}, Shard: s.Index, UID: s.UID,
			Current: true, Settled: true, Template: "t"})
	}
	return h
}

// pass lets the cluster's machine do what it would, as far as it is about servers.
func (h *healer) pass(ctx context.Context, t *testing.T, f *fleet) {
	t.Helper()
	in := fsm.Input[*valkeyv1.ValkeyCluster, cluster.World]{Obj: h.obj, World: h.world, Now: time.Now()}
	in.World.Nodes = slices.Clone(f.world.Nodes)
	in.World.Upgrade = h.asks(f)
	in.World.Shape = nil
	for i, s := range f.world.Shards {
		in.World.Shape = append(in.World.Shape, s.Replicas)
		h.world.Children[i].Template = s.Template
	}
	s, err := cluster.Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []fsm.Outcome
	for _, e := range s.Decision.Do {
		outcomes = append(outcomes, fsm.Outcome{Effect: e, Err: h.tell(ctx, f, e)})
	}
	h.obj = cluster.Machine.Reduce(in, s, outcomes).Obj
	f.world.Cluster.Phase = h.obj.Status.Phase
	if last := h.obj.Status.LastFailover; last != nil {
		f.world.Cluster.LastFailover = last.Time
	}
}

// asks is what the upgrade asks for by its status, as the cluster's observer reads it.
func (h *healer) asks(f *fleet) *cluster.Upgrade {
	up := &cluster.Upgrade{Name: f.obj.Name}
	for _, s := range f.obj.Status.Shards {
		ask := cluster.Ask{Shard: int(s.Index), Template: s.WantTemplate}
		if s.WantReplicas != nil {
			replicas := int(*s.WantReplicas)
			ask.Replicas = &replicas
		}
		up.Asks = append(up.Asks, ask)
	}
	return up
}

func (h *healer) tell(ctx context.Context, f *fleet, effect fsm.Effect) (err error) {
	at := func(m cluster.Member) wire.Target { return wire.Target{Addr: m.Addr, ID: m.ID, Mark: m.Mark} }
	switch e := effect.(type) {
	case cluster.Meet:
		for _, i := range e.Introductions {
			for _, to := range i.To {
				err = errors.Join(err, f.Meet(ctx, at(i.Of), []wire.Target{at(to)}))
			}
		}
	case cluster.ApplyChild:
		err = f.apply(e)
	case cluster.Reset:
		err = f.Reset(ctx, at(e.At), false)
	case cluster.Replicate:
		err = f.Replicate(ctx, at(e.At), e.Primary.ID)
	case cluster.Forget:
		for _, m := range e.At {
			err = errors.Join(err, f.Forget(ctx, at(m), e.IDs...))
		}
	case cluster.Failover:
		err = f.Failover(ctx, at(e.At), wire.Forced)
	}
	return err
}
