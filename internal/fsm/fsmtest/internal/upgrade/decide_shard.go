package upgrade

import (
	"crypto/sha256"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// shardNames is every shard that exists; they act in this order.
func shardNames(in input) (names []string) {
	for _, s := range in.World.Shards {
		names = append(names, s.Name)
	}
	return names
}

func decideShardPending(in shard) fsm.Decision {
	s, seen := in.World.shard(in.Lane)
	if !seen {
		return fsm.Wait(ReasonNotLooked, "valkey").In(look).Because("Waiting for a look at the valkey.")
	}
	for _, earlier := range in.Obj.Status.Shards {
		if earlier.Name == in.Lane {
			break
		}
		if earlier.Phase != ShardCompleted && earlier.Phase != Skipped {
			return fsm.Wait(ReasonNotItsTurn, "lanes").Because("Waiting for shard %s to end.", earlier.Name)
		}
	}
	if s.current(in.Obj.Spec.Image) {
		return fsm.Fire(AlreadyCurrent, ReasonAllCurrent)
	}
	return fsm.Fire(Turn, ReasonItsTurn)
}

// decideUpgradingReplicas deletes at most one pod, and none while any node of the
// shard is missing or behind: losing a second copy could lose writes.
func decideUpgradingReplicas(in shard) fsm.Decision {
	s, image := shardOf(in), in.Obj.Spec.Image
	if s.Template != image {
		return fsm.Wait(ReasonWaitingForTemplate, "cluster").Because("Waiting for the template of shard %s.", in.Lane)
	}
	n, old := s.outdated(image)
	if !old {
		return fsm.Fire(ReplicasCurrent, ReasonAllCurrent)
	}
	if b, behind := s.unsynced(); behind {
		return fsm.Wait(ReasonWaitingForSync, "valkey").Because("Waiting for %s to be in sync.", b.Name)
	}
	return fsm.Do(ReasonReplicaOutdated, DeletePod{n.Name, n.UID}).Because("Pod %s is replaced.", n.Name)
}

func decideWaitingForSync(in shard) fsm.Decision {
	s := shardOf(in)
	if n, behind := s.unsynced(); behind {
		return fsm.Wait(ReasonWaitingForSync, "valkey").Because("Waiting for %s to be in sync.", n.Name)
	}
	if p, ok := s.primary(); ok && p.Image == in.Obj.Spec.Image {
		return fsm.Fire(PrimaryCurrent, ReasonAllCurrent)
	}
	return fsm.Fire(ReplicasSynced, ReasonPrimaryOutdated)
}

func decideFailingOver(in shard) fsm.Decision {
	s := shardOf(in)
	if p, ok := s.primary(); ok && p.Image == in.Obj.Spec.Image {
		return fsm.Fire(Promoted, ReasonAllCurrent)
	}
	to, ok := s.best(in.Obj.Spec.Image)
	if !ok {
		return fsm.Wait(ReasonNoCandidate, "valkey").Because("Waiting for a replica that can take over in shard %s.", in.Lane)
	}
	return fsm.Do(ReasonPrimaryOutdated, Failover{s.Name, to.Name}).In(look).Because("Waiting for %s to take over.", to.Name)
}

func decideWaitingForClusterStable(in shard) fsm.Decision {
	if n, behind := shardOf(in).unsynced(); behind || in.World.Health != Healthy {
		return fsm.Wait(ReasonClusterUnstable, "valkey").Because("Waiting for the cluster to be stable: %s %s.", n.Name, in.World.Health)
	}
	return fsm.Fire(Settled, ReasonHealthy)
}

func decideUpgradingOldMaster(in shard) fsm.Decision {
	s := shardOf(in)
	if n, behind := s.unsynced(); behind {
		return fsm.Wait(ReasonWaitingForSync, "valkey").Because("Waiting for %s to be in sync.", n.Name)
	}
	if n, old := s.outdated(in.Obj.Spec.Image); old {
		return fsm.Do(ReasonReplicaOutdated, DeletePod{n.Name, n.UID}).Because("Pod %s is replaced.", n.Name)
	}
	return fsm.Fire(ShardCurrent, ReasonAllCurrent)
}

// notApproved is the lane's hold under supervision.
func notApproved(in shard) (string, bool) {
	token := failoverToken(in.Obj, in.Lane)
	return "Waiting for a person to approve the failover of shard " + in.Lane + " with `" + ApproveAnnotation + "=" + token + "`.",
		in.Obj.Spec.Supervised && in.Obj.Annotations[ApproveAnnotation] != token
}

// failoverToken names what would be done, not to whom: the best replica changes
// with every lag, and the approval with it.
func failoverToken(u *Upgrade, lane string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(string(u.UID)+"/"+lane+"/"+u.Spec.Image)))[:6]
}
