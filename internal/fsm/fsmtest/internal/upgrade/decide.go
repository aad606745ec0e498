package upgrade

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

const look = 5 * time.Second

func decidePending(in input) fsm.Decision {
	if in.World.Holder == string(in.Obj.UID) {
		return fsm.Fire(Reserved, ReasonReserving)
	}
	return fsm.Do(ReasonReserving, Reserve{string(in.Obj.UID)}).Because("The cluster is reserved.")
}

func decidePreChecks(in input) fsm.Decision {
	w := in.World
	switch {
	case w.Health == "" || len(w.Shards) == 0:
		return fsm.Wait(ReasonNotLooked, "cluster").In(look).Because("Waiting for a look at the cluster.")
	case w.Health != Healthy:
		return fsm.Wait(ReasonUnhealthy, "cluster").In(look).Because("Waiting for the cluster to be healthy: %s.", w.Health)
	}
	for _, s := range w.Shards {
		if len(s.Nodes) < 2 {
			return fsm.Fire(ChecksRefused, ReasonNoReplica)
		}
	}
	return fsm.Fire(ChecksPassed, ReasonHealthy)
}

// decideInProgress judges the lanes; the work is theirs. Success is read from the
// World, not from the lanes: they may have ended long ago.
func decideInProgress(in input) fsm.Decision {
	all := len(in.Obj.Status.Shards) > 0
	for _, lane := range in.Obj.Status.Shards {
		s, seen := in.World.shard(lane.Name)
		switch {
		case lane.Phase == ShardFailedPhase && returnable(in):
			return fsm.Fire(ShardFailed, ReasonRollingBack)
		case lane.Phase == ShardFailedPhase:
			return fsm.Fire(NoWayBack, ReasonRestoreCapture)
		}
		all = all && seen && s.current(in.Obj.Spec.Image) && (lane.Phase == ShardCompleted || lane.Phase == Skipped)
	}
	if all {
		return fsm.Fire(AllCurrent, ReasonAllCurrent)
	}
	return fsm.Wait(ReasonShardsInTurn, "valkey").In(look).Because("Waiting for every shard to be upgraded in its turn.")
}

// returnable says that every shard the upgrade touched could go back.
func returnable(in input) bool {
	for _, s := range in.World.Shards {
		from := in.Obj.from(s.Name)
		if from == "" || !s.current(from) && !s.Returnable {
			return false
		}
	}
	return len(in.World.Shards) > 0
}

// decideRollingBack rolls each shard to the image it came from, by the same order:
// replicas, failover, old primary; one disruption at a time in the whole cluster.
func decideRollingBack(in input) fsm.Decision {
	for _, s := range in.World.Shards {
		from := in.Obj.from(s.Name)
		if s.Template != from {
			return fsm.Wait(ReasonWaitingForTemplate, "cluster").In(look).Because("Waiting for the template of shard %s.", s.Name)
		}
		n, behind := s.unsynced()
		if behind && (n.Primary || n.Image == from) {
			return fsm.Wait(ReasonWaitingForSync, "valkey").In(look).Because("Waiting for %s to be in sync.", n.Name)
		}
		if behind { // it is no copy, and on the new image may never become one
			return fsm.Do(ReasonReplicaOutdated, DeletePod{n.Name, n.UID}).Because("Pod %s is replaced.", n.Name)
		}
		if n, old := s.outdated(from); old {
			return fsm.Do(ReasonReplicaOutdated, DeletePod{n.Name, n.UID}).Because("Pod %s is replaced.", n.Name)
		}
		if to, ok := s.best(from); ok && !s.current(from) {
			return fsm.Do(ReasonPrimaryOutdated, Failover{s.Name, to.Name}).Because("Waiting for %s to take over.", to.Name)
		}
	}
	if len(in.World.Shards) == 0 {
		return fsm.Wait(ReasonNotLooked, "valkey").In(look).Because("Waiting for a look at the valkey.")
	}
	return fsm.Fire(AllBack, ReasonAllBack)
}

// reservedByOther is the hold: somebody else works on this cluster.
func reservedByOther(in input) (string, bool) {
	holder := in.World.Holder
	return "Waiting for " + holder + ", which has reserved the target.", holder != "" && holder != string(in.Obj.UID)
}

// keepReservation is the reflex: an upgrade under way that finds its reservation
// free takes it back before it does anything else.
func keepReservation(in input) (fsm.Decision, bool) {
	if in.World.Holder != "" || in.Obj.Status.Phase == Pending {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonReserving, Reserve{string(in.Obj.UID)}).Because("The cluster is reserved again."), true
}

// lost: an upgrade that has begun and forgot is never begun again. A later
// upgrade may have passed it by, and this one would take the cluster back.
func lost(in input) (fsm.Phase, bool) {
	if !in.World.Touched && in.World.Holder != string(in.Obj.UID) {
		return "", false
	}
	for _, s := range in.World.Shards {
		if !s.current(in.Obj.Spec.Image) {
			return Failed, true
		}
	}
	if len(in.World.Shards) == 0 {
		return Failed, true
	}
	return Completed, true
}
