package upgrade

import (
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A shard without replicas has nobody to take over, and so it gets a replica for as long as
// the upgrade works on it: the surge replica. Its pod has the highest ordinal, and goes
// before any other when the shard is made narrow again; so what it took over it gives back
// to the first pod, once that one runs what is wanted.

// homeOrdinal is the ordinal of the pod that stays when the surge replica has gone.
const homeOrdinal = 0

// noteSurge asks for a surge replica where a shard has none to take over, and for its end.
// To ask for its end is said in so many words: an older copy of the status says nothing, and
// takes nothing away.
func noteSurge(s *valkeyv1.ShardUpgrade, set Shard) {
	if s.WantReplicas == nil && set.Replicas > 0 {
		return
	}
	replicas := int32(1)
	if s.Phase == RemovingSurge {
		replicas = 0
	}
	s.WantReplicas = ptr.To(replicas)
}

// hasSurge says that the shard has a replica only for as long as it is being upgraded.
func (s shardView) hasSurge() bool { return s.WantReplicas != nil }

// isWideEnough says that the shard has the replica that was asked for.
func (s shardView) isWideEnough() bool {
	return !s.hasSurge() || s.set.Replicas == int(*s.WantReplicas)
}

// handsSlotsBack says that who owns the slots is not to keep them: it does not run what is wanted, or
// it is the surge replica and who is to stay is as good by now.
func (s shardView) handsSlotsBack() bool {
	if s.owner.Outdated || !s.hasSurge() || s.owner.Ordinal == homeOrdinal {
		return s.owner.Outdated
	}
	n, found := s.find(func(n topology.Node) bool { return n.Ordinal == homeOrdinal })
	return found && isCurrent(n)
}

// isSurplus says that the surge replica has nothing left to do: who stays serves, and runs what
// is wanted.
func (s shardView) isSurplus() bool {
	return s.hasSurge() && s.owned && s.owner.Ordinal == homeOrdinal && isCurrent(s.owner)
}

// decideRemovingSurge waits until the cluster's controller has taken the surge replica away:
// it alone makes StatefulSets narrower, and has its servers forget the one that goes.
func decideRemovingSurge(in shard) fsm.Decision {
	s := viewOf(in)
	switch {
	case !s.whole:
		return waitForLook("valkey").In(glance)
	case s.owned && s.owner.Outdated:
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	case s.owned && s.owner.Ordinal != homeOrdinal:
		return fsm.Fire(RoleLost, ReasonSurgeServes).Because("%s, which was to be removed, has taken over.", s.owner.Name)
	case s.set.Replicas > 0:
		return fsm.Wait(ReasonRemovingSurge, "children", "pods", "valkey").In(glance).
			Because("Shard %s: waiting for the cluster's controller to remove %s, which the shard had for the upgrade only.", in.Lane, s.surgeNode().Name)
	case !s.isApplied():
		return s.awaitTemplate(in)
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if doubt, agree := in.World.agree(in.World.intact()); !agree {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(glance).Because("Shard %s: waiting for all servers to agree: %s.", in.Lane, doubt)
	}
	if n, unready := s.nodes.Unready(); unready {
		return fsm.Wait(ReasonPodNotReady, "pods").In(glance).Because("Shard %s: waiting for %s to be ready.", in.Lane, describe(n))
	}
	return fsm.Fire(ShardCurrent, ReasonAllCurrent)
}

// surgeNode is the node of the surge replica.
func (s shardView) surgeNode() topology.Node {
	n, _ := s.find(func(n topology.Node) bool { return n.Ordinal != homeOrdinal })
	return n
}
