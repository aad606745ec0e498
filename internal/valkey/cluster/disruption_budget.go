package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// KindDisruptionBudget says how many pods may be drained.
const KindDisruptionBudget = "PodDisruptionBudget"

// Closed is the template of a budget that lets no pod be drained.
const Closed = "closed"

// adjustDisruptionBudget closes the disruption budget while a pod that Kubernetes calls ready has no copy of
// its shard yet, because Kubernetes would let the pod be drained that has the only one, and while slots move as a whole.
func adjustDisruptionBudget(in input) []fsm.Effect {
	w := in.World
	c, found := w.child(isOwnBudget)
	managed := w.Formed && !in.Obj.Spec.Paused && in.Obj.DeletionTimestamp == nil
	if !found || !managed || len(w.Nodes) != w.Shape.Nodes() {
		return nil
	}
	wanted := ""
	if movesWholeSlots(in) || slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Ready && !hasCopy(w, n) }) {
		wanted = Closed
	}
	if c.Template == wanted && (wanted == "" || c.Edited == "") {
		return nil
	}
	return []fsm.Effect{ApplyChild{Child: c.Ref, UID: c.UID, Template: wanted, Open: wanted == "", Edited: c.Edited}}
}

// hasCopy says that a server serves its shard, or has all of it. One that did not answer just
// now is believed to be what it was: a busy server is not a lost one.
func hasCopy(w World, n topology.Node) bool {
	if n.Server == nil {
		return true
	}
	owner, owned := w.Nodes.Shard(n.Shard).Owner()
	if !owned || owner.Name == n.Name {
		return true
	}
	return n.Server.Self().Follows == owner.Server.ID && n.Server.Synced && !n.Server.Syncing
}

// movesWholeSlots says that servers of 9.0 or later hand slots to each other by themselves, or are about to be told so. One
// that is drained in that very moment would hand over to a replica that claims the slots as well.
func movesWholeSlots(in input) bool {
	w, shards := in.World, len(in.World.Shape)
	switch in.Obj.Status.Phase {
	case RebalancingSlots:
	case EvacuatingSlots:
		shards = len(Wanted(in.Obj))
	default:
		return false
	}
	if !slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Server != nil && !topology.Older(n.Server.Version, "9") }) {
		return false
	}
	left, doubt := toMove(w, shards)
	_, _, cramped := wouldExceedMemory(in, shards)
	return w.Migration == Moving || left > 0 && doubt == "" && !cramped // while a move waits for a person, nodes can be drained
}

func isOwnBudget(c Child) bool { return c.Kind == KindDisruptionBudget && c.UID != "" && !c.Foreign }

// isClosed says that a budget is closed on purpose.
func isClosed(c Child) bool { return c.Kind == KindDisruptionBudget && c.Template == Closed }
