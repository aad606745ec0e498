package upgrade

import (
	"errors"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// safeSurge: the surge replica is given up only when who stays serves and runs what is
// wanted, and a shard is called done only when it is as narrow as it was.
func safeSurge(in input, u *valkeyv1.ValkeyUpgrade, h fsm.Hop) error {
	if h.Lane == "" {
		return nil
	}
	rec := record(u, indexOf(h.Lane))
	set, _ := in.World.shard(int(rec.Index))
	nodes := in.World.Nodes.Shard(int(rec.Index))
	owner, owned := nodes.Owner()
	if h.To == RemovingSurge && (!owned || owner.Ordinal != homeOrdinal || owner.Outdated) {
		return errors.New("gives up a surge replica that is needed")
	}
	if h.To != ShardCompleted || rec.WantReplicas == nil {
		return nil
	}
	if set.Replicas != 0 || !owned || owner.Ordinal != homeOrdinal || owner.Outdated {
		return errors.New("leaves a surge replica behind")
	}
	return nil
}

// safeNumber: a shard never has fewer copies than before the upgrade: one that had replicas
// may lack one of them, and one that had none always has who serves.
func safeNumber(in input, gone topology.Node) error {
	rec := record(in.Obj, gone.Shard)
	copies, least := 0, in.World.Nodes.Shard(gone.Shard)
	owner, owned := least.Owner()
	for _, n := range least {
		if owned && n.Name != gone.Name && n.Server != nil && (n.Name == owner.Name || trails(n, owner) == "") {
			copies++
		}
	}
	wanted := len(least) - 1
	if rec.WantReplicas != nil {
		wanted = 1
	}
	if !gone.NeverRan && copies < wanted {
		return errors.New("leaves fewer copies than there were")
	}
	return nil
}

// The shard is called done as soon as every pod runs what is wanted.
func TestFaultSurgeLeftBehind(t *testing.T) {
	t.Parallel()
	b := broken(scenarios["no replicas"].bench(), UpgradingOldMaster, func(in shard) fsm.Decision {
		if d := decideUpgradingOldMaster(in); d.On != SurgeDone && d.On != HandsSlotsBack {
			return d
		}
		return fsm.Fire(ShardCurrent, ReasonAllCurrent)
	})
	fsmtest.Caught(t, throughout(b).Crash(), "leaves a surge replica behind")
}

// It is given up while it serves: the shard would have to be handed over by somebody else.
func TestFaultSurgeGivenUpTooSoon(t *testing.T) {
	t.Parallel()
	b := broken(scenarios["no replicas"].bench(), UpgradingOldMaster, func(in shard) fsm.Decision {
		if d := decideUpgradingOldMaster(in); d.On != HandsSlotsBack {
			return d
		}
		return fsm.Fire(SurgeDone, ReasonRemovingSurge)
	})
	fsmtest.Caught(t, throughout(b).Crash(), "gives up a surge replica that is needed")
}

// What was the primary is replaced before the surge replica has its copy.
func TestFaultSurgeNotAwaited(t *testing.T) {
	t.Parallel()
	b := broken(scenarios["no replicas"].bench(), UpgradingReplicas, func(in shard) fsm.Decision {
		s := viewOf(in)
		if s.isApplied() && s.owned && s.owner.Outdated && !s.owner.Leaving {
			n := s.owner
			n.NeverRan = true // as if it had never run
			own, _ := plan.ProveDeletePod(topology.Nodes{n}, n.Name, lag)
			return s.delete(in, s.owner, own)
		}
		return decideUpgradingReplicas(in)
	})
	fsmtest.Caught(t, throughout(b).Crash(), "leaves fewer copies than there were")
}

// A shard that has the template and not yet the replica is not worked on.
func TestTheSurgeReplicaIsAwaited(t *testing.T) {
	u, w, one := newUpgrade(), running("8.1.1", 1, 0), int32(1)
	w.Shards[0].Template, w.Nodes[0].Outdated = "9.1.2", true
	u.Status.Phase = InProgress
	u.Status.Shards = []valkeyv1.ShardUpgrade{{WantTemplate: "9.1.2", WantReplicas: &one, Place: place{Phase: UpgradingReplicas}}}
	d := decideUpgradingReplicas(shard{Input: input{Obj: u, World: w}, Lane: "0", Place: u.Status.Shards[0].Place})
	if !d.Waits() || d.Reason != ReasonTemplateNotApplied {
		t.Errorf("%+v", d)
	}
}
