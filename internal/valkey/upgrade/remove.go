package upgrade

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// remove deletes a pod of the shard, to be made anew by what its StatefulSet bears. If it
// were wrong, a copy of the shard would be lost.
func (s shardView) remove(in shard, n topology.Node) fsm.Decision {
	if n.Leaving {
		return s.awaitPod(in, n)
	}
	if other, silent := silentElsewhere(in, s); silent {
		return fsm.Wait(ReasonUnproven, "pods", "valkey").In(glance).
			Because("Shard %s: %s is not replaced while %s of another shard does not answer.", in.Lane, n.Name, describe(other))
	}
	proof, doubt := plan.ProveDeletePod(in.World.Nodes, n.Name, lag)
	if doubt != "" {
		return fsm.Wait(ReasonUnproven, "valkey").In(glance).Because("Shard %s: %s is not replaced yet: %s.", in.Lane, n.Name, doubt)
	}
	return s.delete(in, n, proof)
}

// removeBroken deletes a pod that is no copy and, as it is, will not become one: its server
// does not run, or did not answer for so long that the shard is on its way back.
func (s shardView) removeBroken(in shard) (fsm.Decision, bool) {
	n, found := s.find(func(n topology.Node) bool {
		silent := n.UID != "" && n.Server == nil && !n.Leaving
		return silent && n.Outdated && (isBroken(n) || in.Obj.Status.Phase == RollingBack)
	})
	if !found {
		return fsm.Decision{}, false
	}
	proof, doubt := proveBroken(in.World.Nodes, n)
	if doubt != "" {
		return fsm.Wait(ReasonUnproven, "pods", "valkey").In(glance).Because("Shard %s: %s is not replaced yet: %s.", in.Lane, describe(n), doubt), true
	}
	return s.delete(in, n, proof), true
}

// isBroken says that the server of a pod is known not to run.
func isBroken(n topology.Node) bool {
	return n.UID != "" && n.Server == nil && !n.Leaving && (n.Ended || n.Trouble.Stopped())
}

func proveBroken(nodes topology.Nodes, n topology.Node) (proof plan.PodProof, doubt string) {
	if n.NeverRan {
		return plan.ProveDeletePod(nodes, n.Name, lag)
	}
	return plan.ProveDeleteBroken(nodes, n.Name, lag)
}

func (s shardView) delete(in shard, n topology.Node, proof plan.PodProof) fsm.Decision {
	if in.World.Reservation.State != reserve.Ours {
		return fsm.Wait(ReasonNotLooked, reserve.Wake.Name).In(glance).Because(waitForReservation)
	}
	return fsm.Do(ReasonReplacing, DeletePod{
		Name: n.Name, UID: n.UID, Version: n.Version, Set: s.set.Name, Template: s.set.Template, Revision: s.set.Revision, Proof: proof,
	}).Because("Shard %s: waiting for %s to come back.", in.Lane, n.Name)
}

const waitForReservation = "Waiting for the manager to read the reservation of the cluster."

// silentElsewhere is a node of another shard that does not answer, and not for a reason that the
// upgrade itself will put right. On the way forward nothing more
// is taken away meanwhile; on the way back a shard is repaired.
func silentElsewhere(in shard, s shardView) (topology.Node, bool) {
	i := slices.IndexFunc(in.World.Nodes, func(n topology.Node) bool {
		return n.Shard != int(s.Index) && n.Server == nil && !in.World.replaceable(n)
	})
	if i < 0 || in.Obj.Status.Phase != InProgress {
		return topology.Node{}, false
	}
	return in.World.Nodes[i], true
}
