package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Holding is what one shard owns, and what it should.
type Holding struct {
	Shard int
	Slots topology.Slots
	// Weight is how much of all slots it should own, compared to the others; 0 is none:
	// the shard is emptied.
	Weight int
}

// Move is slots that go from one shard to another.
type Move struct {
	From, To int
	Slots    topology.Slots
}

// Moves brings every shard to its part of the slots, to within one slot by weight. It
// moves as few slots as that takes, in few and long ranges, and between each two shards
// at most once and one way. The same holdings have the same moves.
//
// It refuses in words what it cannot make sense of: nothing may be planned on it.
func Moves(holdings []Holding) (moves []Move, doubt string) {
	sorted := slices.SortedFunc(slices.Values(holdings), func(a, b Holding) int { return cmp.Compare(a.Shard, b.Shard) })
	if doubt = whyInvalid(sorted); doubt != "" {
		return nil, doubt
	}
	wanted := shares(sorted)
	var give, take []account
	for i, h := range sorted {
		switch surplus := h.Slots.Count() - wanted[i]; {
		case surplus > 0:
			give = append(give, account{Holding: h, count: surplus})
		case surplus < 0:
			take = append(take, account{Holding: h, count: -surplus})
		}
	}
	return settle(give, take), ""
}

// whyInvalid is what is wrong with holdings, which are in the order of their shards.
func whyInvalid(holdings []Holding) string {
	var all topology.Slots
	keeps := false
	for i, h := range holdings {
		if i > 0 && holdings[i-1].Shard == h.Shard {
			return fmt.Sprintf("shard %d is listed twice", h.Shard)
		}
		if h.Weight < 0 {
			return fmt.Sprintf("shard %d has the weight %d", h.Shard, h.Weight)
		}
		if all.Overlaps(h.Slots) {
			return fmt.Sprintf("shard %d owns slots that another owns, too", h.Shard)
		}
		all = all.With(h.Slots)
		keeps = keeps || h.Weight > 0
	}
	switch {
	case !keeps:
		return "no shard is left to own slots"
	case all.Count() != topology.TotalSlots:
		return fmt.Sprintf("%d of %d slots have an owner", all.Count(), topology.TotalSlots)
	}
	return ""
}

// shares is how many slots each shard should own: its part by weight, rounded down, or
// one more. The ones more go to those that own more than their part already, so that
// fewer slots move, and a cluster that is in balance stays as it is.
func shares(holdings []Holding) []int {
	total := 0
	for _, h := range holdings {
		total += h.Weight
	}
	wanted, rest := make([]int, len(holdings)), topology.TotalSlots
	var uneven []int // those whose part is no whole number
	for i, h := range holdings {
		wanted[i] = topology.TotalSlots * h.Weight / total
		rest -= wanted[i]
		if topology.TotalSlots*h.Weight%total != 0 {
			uneven = append(uneven, i)
		}
	}
	slices.SortStableFunc(uneven, func(a, b int) int {
		owns := func(i int) int { return min(1, max(0, holdings[i].Slots.Count()-wanted[i])) }
		remainder := func(i int) int { return topology.TotalSlots * holdings[i].Weight % total }
		return cmp.Or(owns(b)-owns(a), remainder(b)-remainder(a))
	})
	for _, i := range uneven[:rest] {
		wanted[i]++
	}
	return wanted
}

// account is a shard that has slots to give, or room for them.
type account struct {
	Holding
	count int
}

// settle pairs those that give with those that take, at first where one has just what
// the other lacks. Every pair settles one of the two.
func settle(give, take []account) (moves []Move) {
	for len(give) > 0 {
		g, t := pairOff(give, take)
		n := min(give[g].count, take[t].count)
		slots := cut(give[g].Slots, take[t].Slots, n)
		moves = append(moves, Move{From: give[g].Shard, To: take[t].Shard, Slots: slots})
		give[g].Slots, take[t].Slots = give[g].Slots.Without(slots), take[t].Slots.With(slots)
		give[g].count, take[t].count = give[g].count-n, take[t].count-n
		done := func(a account) bool { return a.count == 0 }
		give, take = slices.DeleteFunc(give, done), slices.DeleteFunc(take, done)
	}
	slices.SortFunc(moves, func(a, b Move) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return moves
}

func pairOff(give, take []account) (from, to int) {
	for i, g := range give {
		for j, t := range take {
			if g.count == t.count {
				return i, j
			}
		}
	}
	return 0, 0
}
