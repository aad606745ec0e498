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

// home is the ordinal of the pod that stays when the surge replica has gone.
const home = 0

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

// surged says that the shard has a replica only for as long as it is being upgraded.
func (s sight) surged() bool { return s.WantReplicas != nil }

// wide says that the shard has the replica that was asked for.
func (s sight) wide() bool { return !s.surged() || s.set.Replicas == int(*s.WantReplicas) }

// handsSlotsBack says that who owns the slots is not to keep them: it does not run what is wanted, or
// it is the surge replica and who is to stay is as good by now.
func (s sight) handsSlotsBack() bool {
	if s.owner.Outdated || !s.surged() || s.owner.Ordinal == home {
		return s.owner.Outdated
	}
	n, found := s.find(func(n topology.Node) bool { return n.Ordinal == home })
	return found && current(n)
}

// isSurplus says that the surge replica has nothing left to do: who stays serves, and runs what
// is wanted.
func (s sight) isSurplus() bool {
	return s.surged() && s.owned && s.owner.Ordinal == home && current(s.owner)
}

// decideRemovingSurge waits until the cluster's controller has taken the surge replica away:
// it alone makes StatefulSets narrower, and has its servers forget the one that goes.
func decideRemovingSurge(in shard) fsm.Decision {
	s := look(in)
	switch {
	case !s.whole:
		return fsm.Wait(ReasonNotLooked, "valkey").In(glance)
	case s.owned && s.owner.Outdated:
		return fsm.Fire(RoleLost, ReasonPrimaryOutdated)
	case s.owned && s.owner.Ordinal != home:
		return fsm.Fire(RoleLost, ReasonSurgeServes).Because("%s, which was to go, has taken over", s.owner.Name)
	case s.set.Replicas > 0:
		return fsm.Wait(ReasonRemovingSurge, "children", "pods", "valkey").In(glance).
			Because("shard %s: the cluster's controller to remove %s, which the shard had for the upgrade only", in.Lane, s.surge().Name)
	case !s.applied():
		return s.awaitTemplate(in)
	}
	if n, silent := s.nodes.Silent(); silent {
		return s.awaitPod(in, n)
	}
	if doubt, agree := in.World.agree(in.World.intact()); !agree {
		return fsm.Wait(ReasonClusterUnstable, "valkey").In(glance).Because("shard %s: all to agree: %s", in.Lane, doubt)
	}
	if n, unready := s.nodes.Unready(); unready {
		return fsm.Wait(ReasonPodNotReady, "pods").In(glance).Because("shard %s: %s to be ready", in.Lane, describe(n))
	}
	return fsm.Fire(ShardCurrent, ReasonAllCurrent)
}

// surge is the node of the surge replica.
func (s sight) surge() topology.Node {
	n, _ := s.find(func(n topology.Node) bool { return n.Ordinal != home })
	return n
}
