package plan

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// cut takes n slots out of the set, for one that owns others: in as few ranges as it
// takes, and where there is a choice, next to what that one owns.
func cut(from, others topology.Slots, n int) (out topology.Slots) {
	ranges := from.Ranges()
	for n > 0 {
		i := fitting(ranges, n)
		r := ranges[i]
		ranges = slices.Delete(ranges, i, i+1)
		if size(r) > n {
			if others.Overlaps(neighbour(r[0] - 1)) {
				r[1] = r[0] + n - 1
			} else {
				r[0] = r[1] - n + 1
			}
		}
		out = out.With(topology.Range(r[0], r[1]))
		n -= size(r)
	}
	return out
}

// fitting is the smallest range with n slots or more, so that a long one is not cut
// for nothing, or else the largest.
func fitting(ranges [][2]int, n int) (best int) {
	for i, r := range ranges {
		have, is := size(ranges[best]), size(r)
		switch {
		case is >= n && (have < n || is < have), is < n && have < n && is > have:
			best = i
		}
	}
	return best
}

func size(r [2]int) int { return r[1] - r[0] + 1 }

func neighbour(slot int) topology.Slots {
	if slot < 0 {
		return ""
	}
	return topology.Range(slot, slot)
}

// Split cuts a move into several of at most so many slots each, in order.
func (m Move) Split(most int) (parts []Move) {
	var slots topology.Slots
	n := 0
	for _, r := range m.Slots.Ranges() {
		for r[0] <= r[1] {
			end := min(r[1], r[0]+most-n-1)
			slots = slots.With(topology.Range(r[0], end))
			n += end - r[0] + 1
			r[0] = end + 1
			if n == most {
				parts = append(parts, Move{From: m.From, To: m.To, Slots: slots})
				slots, n = "", 0
			}
		}
	}
	if n > 0 {
		parts = append(parts, Move{From: m.From, To: m.To, Slots: slots})
	}
	return parts
}
