package cluster

import (
	"fmt"
	"math"
	"slices"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Migration says how far the work is that moves slots beside the passes; "" is that none
// is known of.
type Migration string

// The states of a migration. One that ended may have failed: the slots tell.
const (
	Moving Migration = "Moving"
	Ended  Migration = "Ended"
)

// move sees to it that the first shards own all slots, each its share, and the others
// none. What is on its way already is finished first, wherever it was to go: a slot
// that was left half open keeps its keys in two places.
func move(in input, shards int) (fsm.Decision, bool) {
	w := in.World
	left, doubt := toMove(w, shards)
	open := openSlots(w)
	misplaced := countMisplaced(w, shards)
	words := fmt.Sprintf("Moving up to %d slots%s.", roughly(misplaced), estimate(in, misplaced))
	switch {
	case w.Migration == Moving: // a slot has two owners for a moment, while it changes hands
		return fsm.Wait(ReasonMoving, "valkey", "work").In(recheck).Because("%s", words), true
	case doubt != "":
		if words, lost := shardLost(in); lost {
			return fsm.Wait(ReasonDataLost, "valkey").In(recheck).Because("%s", words), true
		}
		return fsm.Wait(ReasonSlotsLost, "valkey").In(recheck).Because("No slots are moved: %s; see SlotsLost in the runbook.", doubt), true
	case left == 0 && open == 0:
		return fsm.Decision{}, false
	}
	// What is half way is finished whatever comes of it.
	if n, share, cramped := wouldExceedMemory(in, shards); cramped && open == 0 {
		return fsm.Wait(ReasonTooLittleMemory, "valkey", "self").In(recheck).
			Because("%d shards cannot hold what all hold: %s would get about %d MiB and may have %d MiB; raise its memory limit, or keep more shards.",
				shards, n.Name, share>>20, n.Server.MemoryLimit>>20), true
	}
	return fsm.Do(ReasonMoving, MoveSlots{shards, places(w.Nodes)}).Because("%s", words), true
}

// Evicts says that servers that are full drop keys, instead of refusing writes.
func Evicts(c *valkeyv1.ValkeyCluster) bool {
	policy, set := c.Spec.Config["maxmemory-policy"]
	return set && policy != "noeviction"
}

// wouldExceedMemory is a primary that stays and would get more than it may hold, which is refused to
// clients of every shard then. Where servers evict, that is what was asked for.
func wouldExceedMemory(in input, shards int) (n topology.Node, share int64, is bool) {
	if Evicts(in.Obj) || shards >= len(in.World.Shape) {
		return n, 0, false
	}
	var stay []topology.Node
	for i := range in.World.Shape {
		if owner, owned := in.World.Nodes.Shard(i).Owner(); owned {
			share += owner.Server.Memory
			if i < shards {
				stay = append(stay, owner)
			}
		}
	}
	share /= int64(shards)
	for _, n := range stay {
		if limit := n.Server.MemoryLimit; limit > 0 && share > limit {
			return n, share, true
		}
	}
	return n, share, false
}

// estimate is how long what is left will take at the pace so far, and about how much it holds, of what takes minutes. It
// is told in large steps: each is a write.
func estimate(in input, left int) string {
	p, elapsed := in.Obj.Status.Plan, in.Now.Sub(in.Obj.Status.Since.Time)
	if p == nil || int(p.Slots) <= left || elapsed < time.Minute {
		return ""
	}
	total := int64(p.Slots)
	minutes := math.Ceil(elapsed.Minutes() * float64(left) / float64(total-int64(left)))
	i, _ := slices.BinarySearch(steps, int(min(minutes, longest)))
	within := "at most " + (time.Duration(steps[i]) * time.Minute).String()
	if minutes > longest {
		within = "more than a week"
	}
	return fmt.Sprintf(", about %d MiB, which takes %s at this pace", p.Bytes*int64(roughly(left))/total>>20, within)
}

// steps are the minutes that are told apart.
var steps = []int{1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1440, 2880, longest}

const longest = 7 * 24 * 60 // minutes

// roughly is how exactly it is told how many slots are left: each number is a write.
func roughly(slots int) int { return (slots + 511) / 512 * 512 }

// countMisplaced is how many slots are where they should not be.
func countMisplaced(w World, shards int) (n int) {
	for _, h := range Holdings(w.Nodes, shards) {
		share := 0
		if h.Weight > 0 {
			share = topology.TotalSlots / shards
		}
		n += max(0, h.Slots.Count()-share)
	}
	return n
}

// toMove is how many slots are where they should not be, or why that cannot be said.
func toMove(w World, shards int) (left int, doubt string) {
	moves, doubt := plannedMoves(w, shards)
	for _, m := range moves {
		left += m.Slots.Count()
	}
	return left, doubt
}

// Holdings is what each shard owns; the first ones are to own all, in equal shares.
func Holdings(nodes topology.Nodes, shards int) (list []plan.Holding) {
	for _, n := range nodes {
		last := len(list) - 1
		if last < 0 || list[last].Shard != n.Shard {
			list, last = append(list, plan.Holding{Shard: n.Shard}), last+1
		}
		if n.Shard < shards {
			list[last].Weight = 1
		}
		if n.Server != nil {
			list[last].Slots = list[last].Slots.With(n.Server.Self().Slots)
		}
	}
	return list
}

// MoveIsOutdated says that slots are on their way to where nobody wants them any more: spread over
// shards that are to go again, or gathered in others than are to stay. What is begun is
// finished; nothing more is begun.
func MoveIsOutdated(c *valkeyv1.ValkeyCluster, e MoveSlots) bool {
	wanted, shape := Wanted(c), shapeOf(e.At)
	if e.Shards < len(shape) {
		return len(wanted) != e.Shards
	}
	for i := range min(len(wanted), len(shape)) {
		if shape[i] < wanted[i] {
			return false // what adds comes first, and after what is under way
		}
	}
	return len(wanted) < len(shape)
}

// shapeOf is that of the servers among whom slots are moved.
func shapeOf(places []Place) (shape Shape) {
	for _, p := range places {
		for len(shape) <= p.Shard {
			shape = append(shape, -1)
		}
		shape[p.Shard]++
	}
	return shape
}

func places(nodes topology.Nodes) (list []Place) {
	for _, n := range nodes {
		list = append(list, Place{memberOf(n), n.Shard})
	}
	return list
}

func openSlots(w World) (n int) {
	for _, m := range w.Nodes {
		if m.Server != nil && m.Server.Self().Follows == "" {
			n += len(m.Server.Open)
		}
	}
	return n
}
