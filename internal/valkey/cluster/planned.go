package cluster

import (
	"fmt"
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// mostMoves is as many as the schema allows. Fewer than there are shards are ever needed.
const mostMoves = 250

// makePlan plans what is left of a change of size, nil if nothing is, or why that cannot be told.
// What only restarts servers is the plan of an upgrade.
func makePlan(in input) (p *valkeyv1.ClusterPlan, doubt string) {
	w, wanted := in.World, Wanted(in.Obj)
	if !w.Formed || !w.looked() || len(wanted) == 0 || len(w.Nodes) != w.Shape.Nodes() {
		return nil, "the manager has not read the cluster yet"
	}
	if w.Upgrade != nil {
		return nil, "ValkeyUpgrade " + w.Upgrade.Name + " works on the cluster"
	}
	moves, doubt := plannedMoves(w, len(wanted))
	if doubt != "" {
		return nil, doubt
	}
	_, outdated := editedShard(w)
	outdated = outdated && (editedByUser(in) || upgradeRequested(in))
	edit := plan.Edit{Have: sizeOf(w.Shape, wanted[0]), Want: sizeOf(wanted, wanted[0]), Unbalanced: len(moves) > 0, Outdated: outdated}
	steps := edit.Steps()
	if len(steps) == 0 || len(steps) == 1 && steps[0] == plan.Restart {
		return nil, ""
	}
	return composePlan(in, steps, moves), ""
}

// composePlan makes a plan of these steps and moves, with a token over all that is in it.
func composePlan(in input, steps []plan.Step, moves []plan.Move) *valkeyv1.ClusterPlan {
	w := in.World
	p := &valkeyv1.ClusterPlan{From: sizeWords(w.Shape), To: sizeWords(Wanted(in.Obj)), Template: w.Template}
	what := []string{string(in.Obj.UID), p.From, p.To, p.Template}
	for _, s := range steps {
		p.Steps, what = append(p.Steps, valkeyv1.PlanStep(s)), append(what, string(s))
	}
	for _, m := range moves {
		p.Moves, what = append(p.Moves, moveOf(w.Nodes, m)), append(what, fmt.Sprintf("%d-%d %s", m.From, m.To, m.Slots))
	}
	for _, m := range p.Moves {
		p.Slots, p.Bytes = p.Slots+m.Slots, p.Bytes+m.Bytes
	}
	p.Token, p.Moves = plan.Token(what...), p.Moves[:min(len(p.Moves), mostMoves)]
	return p
}

// plannedMoves are the slots that will change hands, also to shards that are still to be made.
func plannedMoves(w World, shards int) (moves []plan.Move, doubt string) {
	if _, rival, contested := w.Nodes.Assigned(); contested {
		return nil, rival.Name + " and another server both claim the same slots"
	}
	holdings := Holdings(w.Nodes, shards)
	for i := len(w.Shape); i < shards; i++ {
		holdings = append(holdings, plan.Holding{Shard: i, Weight: 1})
	}
	return plan.Moves(holdings)
}

// moveOf is one move in numbers. The bytes are what the primary that gives has in use, by its
// share of slots.
func moveOf(nodes topology.Nodes, m plan.Move) valkeyv1.PlannedMove {
	move := valkeyv1.PlannedMove{From: int32(m.From), To: int32(m.To), Slots: int32(m.Slots.Count())} //nolint:gosec // at most 16384
	if owner, owned := nodes.Shard(m.From).Owner(); owned {
		move.Bytes = owner.Server.Dataset * int64(move.Slots) / int64(owner.Server.Self().Slots.Count())
	}
	return move
}

// sizeOf is the size of a shape compared to how many replicas are wanted: of shards that
// differ, the one that lacks some counts, and else the one that has too many.
func sizeOf(s Shape, wanted int) plan.Shape {
	replicas := slices.Max(s)
	if least := slices.Min(s); least < wanted {
		replicas = least
	}
	return plan.Shape{Shards: len(s), Replicas: replicas}
}

// sizeWords is a shape in words: 3x1, or 3x0-1 where shards differ.
func sizeWords(s Shape) string {
	least, most := slices.Min(s), slices.Max(s)
	if least == most {
		return fmt.Sprintf("%dx%d", len(s), least)
	}
	return fmt.Sprintf("%dx%d-%d", len(s), least, most)
}
