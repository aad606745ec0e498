package upgrade

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// recheck is how soon what is awaited is looked at even if nothing wakes us.
const recheck = 5 * time.Second

// glance is the same for a shard that is being changed: servers are asked anew each time.
const glance = time.Second

// waitForLook waits while something was not read, which is no evidence of anything.
func waitForLook(wakes ...string) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, wakes...).In(recheck).Because("Waiting for the manager to read the cluster, its pods and its reservation.")
}

func decidePending(in input) fsm.Decision {
	w := in.World
	switch {
	case in.Obj.Spec.CaptureFirst && w.Captures.Impossible != "":
		return fsm.Fire(Refused, ReasonCaptureUnavailable).Because("%s", w.Captures.Impossible)
	case w.Cluster.Sight == "":
		return waitForLook("cluster")
	case w.Cluster.Sight == presence.Gone:
		return fsm.Wait(ReasonNoCluster, "cluster").In(recheck).Because("Waiting for ValkeyCluster %s, which does not exist; create it, or delete this upgrade.", in.Obj.Spec.ClusterRef.Name)
	case w.Reservation.State == reserve.Free && !w.Cluster.Formed: // it needs the reservation itself
		return fsm.Wait(ReasonNoCluster, "cluster").In(recheck).Because("Waiting for ValkeyCluster %s to be formed.", in.Obj.Spec.ClusterRef.Name)
	case w.Reservation.State == reserve.Free:
		return fsm.Do(ReasonReserving, take(in)).Because("The manager reserves ValkeyCluster %s for this upgrade.", in.Obj.Spec.ClusterRef.Name)
	case w.Reservation.State == reserve.Ours:
		return fsm.Fire(Reserved, ReasonReserved)
	case w.Reservation.State == reserve.Others:
		message, _ := reservedByOther(in)
		return fsm.Wait(ReasonReservedByOther, reserve.Wake.Name).Because("%s", message)
	}
	return waitForLook("cluster")
}

// decidePreChecks waits until the cluster is whole: what is not whole before cannot be told
// from what the upgrade broke. Pods that are broken, and that the upgrade replaces first, are
// no obstacle: it may have been made to put them right.
func decidePreChecks(in input) fsm.Decision {
	w := in.World
	doubt, fit := w.healthyApartFromBroken()
	switch {
	case !w.looked() || w.Reservation.State != reserve.Ours:
		return waitForLook("cluster", "valkey")
	case !w.Cluster.Formed || !slices.Contains(standing, w.Cluster.Phase):
		return waitForHealth(in, "it is "+string(w.Cluster.Phase)+", not Running")
	case !fit:
		return waitForHealth(in, doubt)
	}
	if d, captures := capture(in); captures {
		return d
	}
	return fsm.Fire(ChecksPassed, ReasonHealthy)
}

// waitForHealth waits, and in the end says what it has waited for.
func waitForHealth(in input, doubt string) fsm.Decision {
	if isOverdue(in.Obj.Status.Place, in.Now) {
		return fsm.Fire(ChecksFailed, ReasonUnhealthy).Because("ValkeyCluster %s did not become healthy in time: %s. Nothing was changed.", in.Obj.Spec.ClusterRef.Name, doubt)
	}
	return fsm.Wait(ReasonUnhealthy, "cluster", "pods", "valkey").In(recheck).
		Because("Waiting for ValkeyCluster %s to be healthy before the upgrade begins: %s.", in.Obj.Spec.ClusterRef.Name, doubt)
}

// decideInProgress judges the lanes; the work is theirs. Success is read from the World, not
// from the lanes: they may have ended long ago.
func decideInProgress(in input) fsm.Decision {
	w, ended := in.World, 0
	for _, s := range in.Obj.Status.Shards {
		switch s.Phase {
		case ShardHasFailed:
			return fsm.Fire(ShardFailed, ReasonShardFailed).Because("Shard %d could not be upgraded.", s.Index)
		case ShardCompleted, Skipped:
			ended++
		}
	}
	if !w.looked() {
		return waitForLook("cluster", "valkey")
	}
	if ended < len(w.Shards) { // their own timers wake us
		return fsm.Wait(ReasonShardsInTurn, "valkey", "pods", "children").Because("Waiting for every shard to be upgraded in its turn.")
	}
	doubt, healthy := w.finished()
	switch {
	case !healthy && waitedForCluster(in) > checksTimeout:
		return fsm.Fire(NotWhole, ReasonUnhealthy).Because("Every shard was upgraded, but the cluster is not healthy: %s. It is left as it is.", doubt)
	case !healthy:
		return fsm.Wait(ReasonUnhealthy, "pods", "valkey").In(recheck).Because("Every shard is upgraded; waiting for the cluster to be healthy: %s.", doubt)
	}
	return fsm.Fire(AllCurrent, ReasonAllCurrent).Because("Every shard (%d) and every pod (%d) runs what was asked for.", len(w.Shards), len(w.Nodes))
}

// outdatedPod is a pod that does not exist, or that its StatefulSet would make otherwise by now.
func outdatedPod(nodes topology.Nodes) (topology.Node, bool) {
	if i := slices.IndexFunc(nodes, func(n topology.Node) bool { return n.UID == "" || n.Outdated }); i >= 0 {
		return nodes[i], true
	}
	return topology.Node{}, false
}

// take reserves the very cluster that was found.
func take(in input) fsm.Effect {
	return reserve.Take{Target: reserve.Ref{
		Kind:      "ValkeyCluster." + valkeyv1.GroupVersion.Group,
		Namespace: in.Obj.Namespace, Name: in.Obj.Spec.ClusterRef.Name, UID: types.UID(in.World.Cluster.UID),
	}}
}

// keepReservation is the reflex: an upgrade under way that finds its reservation free takes
// it back before it does anything else.
func keepReservation(in input) (fsm.Decision, bool) {
	w := in.World
	idle := w.Cluster.Sight != presence.Here || w.Cluster.Paused || w.Cluster.Deleting || in.Obj.DeletionTimestamp != nil
	if w.Reservation.State != reserve.Free || in.Obj.Status.Phase == Pending || idle || clusterGone(in) {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonReserving, take(in)).Because("The manager takes the reservation of ValkeyCluster %s back.", in.Obj.Spec.ClusterRef.Name), true
}

// beingDeleted holds an upgrade that is on its way out: what it leaves, the cluster keeps.
func beingDeleted(in input) (string, bool) {
	return "The upgrade is being deleted; the cluster keeps what it has.", in.Obj.DeletionTimestamp != nil
}

func paused(in input) (string, bool) {
	return "ValkeyCluster " + in.Obj.Spec.ClusterRef.Name + " is paused; unset its spec.paused to continue.", in.World.Cluster.Paused
}

func deleting(in input) (string, bool) {
	return "Waiting for ValkeyCluster " + in.Obj.Spec.ClusterRef.Name + ", which is being deleted, to be gone.", in.World.Cluster.Deleting
}

func reservedByOther(in input) (string, bool) {
	return in.World.Reservation.Held("ValkeyCluster " + in.Obj.Spec.ClusterRef.Name)
}

// clusterGone says that the very cluster that was found is there no more: its name is free,
// or another has it, which nobody asked to upgrade.
func clusterGone(in input) bool {
	found, c := in.Obj.Status.ClusterUID, in.World.Cluster
	return found != "" && (c.Sight == presence.Gone || c.Sight == presence.Here && c.UID != found)
}

// isOverdue says that the deadline of a place has passed, and its clock is running.
func isOverdue(p place, now time.Time) bool {
	return p.Deadline != nil && p.HeldSince == nil && !now.Before(p.Deadline.Time)
}

// lost: an upgrade that has begun and forgot so is never begun again. A later one may have
// passed it by, and this one would take the cluster back.
func lost(in input) (fsm.Phase, bool) { return Failed, hasBegun(in) || isSuperseded(in) }

// hasBegun says that a StatefulSet bears the mark of this upgrade.
func hasBegun(in input) bool {
	return slices.ContainsFunc(in.World.Shards, func(s Shard) bool { return s.Upgrade.UID == string(in.Obj.UID) && s.Upgrade.UID != "" })
}

// isSuperseded says that a StatefulSet bears the mark of another upgrade that is not older.
func isSuperseded(in input) bool {
	return slices.ContainsFunc(in.World.Shards, func(s Shard) bool {
		return s.Upgrade.UID != "" && s.Upgrade.UID != string(in.Obj.UID) && !s.Upgrade.Created.Before(in.Obj.CreationTimestamp.Time)
	})
}

// record is what the status says of a shard.
func record(u *valkeyv1.ValkeyUpgrade, index int) valkeyv1.ShardUpgrade {
	i, found := position(u, index)
	if !found {
		return valkeyv1.ShardUpgrade{Index: int32(index)} //nolint:gosec // at most 250
	}
	return u.Status.Shards[i]
}

func position(u *valkeyv1.ValkeyUpgrade, index int) (int, bool) {
	return slices.BinarySearchFunc(u.Status.Shards, index, func(s valkeyv1.ShardUpgrade, index int) int { return int(s.Index) - index })
}
