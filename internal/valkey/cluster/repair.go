package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A shard of which no server runs cannot be upgraded: an upgrade waits for slots that it does not serve. An edit
// reaches it at once, because nothing that runs is restarted by it.

// repairStoppedShards gives shards of which no server runs the template of the edited spec, and then replaces the pods
// that were made by another. Volumes stay; of what was in memory only, nothing is left in a container that has ended.
func repairStoppedShards(in input) (fsm.Decision, bool) {
	w := in.World
	if !w.Formed || in.Obj.Spec.Paused || len(w.Nodes) != w.Shape.Nodes() {
		return fsm.Decision{}, false
	}
	var effects []fsm.Effect
	for _, c := range statefulSets(w) {
		shard := w.Nodes.Shard(c.Shard)
		switch {
		case !stopped(shard) || !mayRepair(in, c.Shard):
		case !c.Current:
			image, _ := wantedImage(in)
			effects = append(effects, ApplyChild{Child: c.Ref, UID: c.UID, Shard: c.Shard, Replicas: w.Shape[c.Shard], Image: image})
		default:
			effects = append(effects, replaceStoppedPods(shard)...)
		}
	}
	if len(effects) == 0 {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonRepairing, effects...).Because("The manager brings pods that cannot run to the edited spec."), true
}

// mayRepair says that nobody else is at work on a shard. An upgrade of this very spec that has not come to it waits for the
// slots of the shard, wherever it is: it would bring the shard to the same template.
func mayRepair(in input, shard int) bool {
	w := in.World
	if w.Upgrade == nil {
		return w.Reservation.State == reserve.Free || w.Reservation.State == reserve.Ours
	}
	return leavesToUs(in, shard, upgradeWorking)
}

// leavesToUs says that the upgrade that has the cluster is its own, to this very spec, in one of these phases, and has not
// come to a shard.
func leavesToUs(in input, shard int, phases ...string) bool {
	w, name := in.World, ownName(in)
	if w.Upgrade == nil || w.Upgrade.Name != name {
		return false
	}
	under := slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return u.Name == name && slices.Contains(phases, u.Phase) })
	asked := slices.ContainsFunc(w.Upgrade.Asks, func(a Ask) bool { return a.Shard == shard })
	return under && !asked
}

// toRepair says that no server of a shard runs. No upgrade could begin, and it would keep the shard from being repaired.
func toRepair(w World) bool {
	return slices.ContainsFunc(statefulSets(w), func(c Child) bool { return stopped(w.Nodes.Shard(c.Shard)) })
}

// stopped says that no server of a shard runs, and that nothing but another template will change that.
func stopped(shard topology.Nodes) bool {
	cannotRun := func(n topology.Node) bool {
		ended := n.UID != "" && (n.NeverRan || n.Ended) || n.CannotBeMade()
		return n.Server == nil && !n.Leaving && n.Trouble.Stopped() && ended
	}
	return len(shard) > 0 && !slices.ContainsFunc(shard, func(n topology.Node) bool { return !cannotRun(n) })
}

// replaceStoppedPods deletes pods that cannot run and would be made otherwise by now.
//
// NOTE: what would be lost is what a container keeps in memory: it has ended, or never ran.
func replaceStoppedPods(shard topology.Nodes) (effects []fsm.Effect) {
	for _, n := range shard {
		if n.Outdated {
			effects = append(effects, DeletePod{n.Name, n.UID, n.Version})
		}
	}
	return effects
}

// podTrouble are the words of the first pod that does not run, to follow others.
func podTrouble(w World) string {
	if i := slices.IndexFunc(w.Nodes, hasTrouble); i >= 0 {
		return " " + w.Nodes[i].Trouble.Words
	}
	return ""
}
