package plan

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// even is shards that own equal parts, of which each should own by its weight.
func even(owners int, weights ...int) (holdings []Holding) {
	for i, w := range weights {
		h := Holding{Shard: i, Weight: w}
		if i < owners {
			h.Slots = topology.Share(i, owners)
		}
		holdings = append(holdings, h)
	}
	return holdings
}

func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		holdings []Holding
		want     []Move
		doubt    string
	}{
		"nothing to do": {holdings: even(3, 1, 1, 1)},
		"a shard is added": {holdings: even(3, 1, 1, 1, 1), want: []Move{
			{From: 0, To: 3, Slots: "4096-5461"}, {From: 1, To: 3, Slots: "5462-6826"}, {From: 2, To: 3, Slots: "15019-16383"}}},
		"a shard is emptied": {holdings: even(4, 1, 1, 1, 0), want: []Move{
			{From: 3, To: 0, Slots: "15018-16383"}, {From: 3, To: 1, Slots: "13653-15017"}, {From: 3, To: 2, Slots: "12288-13652"}}},
		"one has twice the weight": {holdings: even(3, 1, 1, 2), want: []Move{
			{From: 0, To: 2, Slots: "4096-5461"}, {From: 1, To: 2, Slots: "5462-6826"}}},
		"one has what another lacks": {holdings: []Holding{
			{Shard: 0, Slots: "0-4101", Weight: 4096}, {Shard: 1, Slots: "4102-8201", Weight: 4096},
			{Shard: 2, Slots: "8202-12293", Weight: 4096}, {Shard: 3, Slots: "12294-14339", Weight: 2049}, {Shard: 4, Slots: "14340-16383", Weight: 2047}},
			want: []Move{{From: 0, To: 3, Slots: "4099-4101"}, {From: 0, To: 4, Slots: "4096-4098"}, {From: 1, To: 2, Slots: "8198-8201"}}},
		"one shard replaces another": {holdings: even(1, 0, 1), want: []Move{{From: 0, To: 1, Slots: "0-16383"}}},
		"no shard stays":             {holdings: even(3, 0, 0, 0), doubt: "no shard is left"},
		"a slot is nobody's":         {holdings: []Holding{{Slots: "0-16382", Weight: 1}}, doubt: "16383 of 16384"},
		"a slot is contested":        {holdings: []Holding{{Slots: "0-16383", Weight: 1}, {Shard: 1, Slots: "7", Weight: 1}}, doubt: "shard 1 owns slots that another owns"},
		"a shard is listed twice":    {holdings: []Holding{{Slots: "0-16383", Weight: 1}, {Weight: 1}}, doubt: "listed twice"},
		"a weight below nothing":     {holdings: []Holding{{Slots: "0-16383", Weight: 1}, {Shard: 1, Weight: -1}}, doubt: "the weight -1"},
		"nothing was seen":           {doubt: "no shard is left"},
	} {
		t.Run(name, func(t *testing.T) {
			moves, doubt := Moves(c.holdings)
			if diff := cmp.Diff(c.want, moves); diff != "" || (doubt == "") != (c.doubt == "") || !strings.Contains(doubt, c.doubt) {
				t.Errorf("doubt %q: %s", doubt, diff)
			}
		})
	}
}

// Every way from a few shards to a few, by a few weights.
func TestMovesOfFewShards(t *testing.T) {
	for owners := 1; owners <= 4; owners++ {
		weights := make([]int, 4)
		for done := false; !done; done = !next(weights, 3) {
			if slices.Max(weights) > 0 {
				check(t, even(owners, weights...))
			}
		}
	}
}

// next counts up.
func next(digits []int, most int) bool {
	for i := range digits {
		if digits[i]++; digits[i] <= most {
			return true
		}
		digits[i] = 0
	}
	return false
}

// Any number of shards, any holdings: slots in many pieces, shards without any.
func TestMovesOfAnyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "shards")
		holdings := make([]Holding, n)
		for i := range holdings {
			holdings[i] = Holding{Shard: 3 * i, Weight: rapid.IntRange(0, 4).Draw(t, "weight")}
		}
		holdings[0].Weight++
		pieces := rapid.SliceOfNDistinct(rapid.IntRange(1, topology.TotalSlots-1), 0, 30, rapid.ID).Draw(t, "cuts")
		slices.Sort(pieces)
		first := 0
		for _, end := range append(pieces, topology.TotalSlots) {
			h := &holdings[rapid.IntRange(0, n-1).Draw(t, "owner")]
			h.Slots = h.Slots.With(topology.Range(first, end-1))
			first = end
		}
		check(t, holdings)
		moves, _ := Moves(holdings)
		again, _ := Moves(rapid.Permutation(holdings).Draw(t, "order"))
		if diff := cmp.Diff(moves, again); diff != "" {
			t.Errorf("in another order there are other moves: %s", diff)
		}
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check is all that holds for the moves of any holdings.
func check(t failer, holdings []Holding) {
	t.Helper()
	moves, doubt := Moves(holdings)
	if doubt != "" {
		t.Fatalf("%v: %s", holdings, doubt)
	}
	after, gives, takes, moved := slices.Clone(holdings), map[int]bool{}, map[int]bool{}, 0
	at := func(shard int) *Holding {
		return &after[slices.IndexFunc(after, func(h Holding) bool { return h.Shard == shard })]
	}
	pairs := map[[2]int]bool{}
	for _, m := range moves {
		from, to := at(m.From), at(m.To)
		if m.Slots == "" || m.Slots.Without(from.Slots) != "" || pairs[[2]int{m.From, m.To}] {
			t.Fatalf("%v: %v", holdings, m)
		}
		pairs[[2]int{m.From, m.To}] = true
		from.Slots, to.Slots = from.Slots.Without(m.Slots), to.Slots.With(m.Slots)
		gives[m.From], takes[m.To] = true, true
		moved += m.Slots.Count()
	}
	total := 0
	for _, h := range after {
		total += h.Weight
	}
	var all topology.Slots
	for _, h := range after {
		all = all.With(h.Slots)
		exact, has := topology.TotalSlots*h.Weight, h.Slots.Count()*total
		if has <= exact-total || has >= exact+total {
			t.Fatalf("%v: shard %d has %d slots for %d of %d", holdings, h.Shard, h.Slots.Count(), h.Weight, total)
		}
		if gives[h.Shard] && takes[h.Shard] {
			t.Fatalf("%v: shard %d gives and takes", holdings, h.Shard)
		}
	}
	if all.Count() != topology.TotalSlots {
		t.Fatalf("%v: %d slots are left", holdings, all.Count())
	}
	if least := leastMoved(holdings, total); moved != least {
		t.Fatalf("%v: %d slots move, where %d suffice", holdings, moved, least)
	}
	if most := len(gives) + len(takes) - 1; len(moves) > max(0, most) {
		t.Fatalf("%v: %d moves between %d and %d shards", holdings, len(moves), len(gives), len(takes))
	}
	if rest, _ := Moves(after); len(rest) > 0 {
		t.Fatalf("%v: %v is left to do", holdings, rest)
	}
}

// leastMoved tries every way to round the parts.
func leastMoved(holdings []Holding, total int) int {
	least, rest := topology.TotalSlots+1, topology.TotalSlots
	for _, h := range holdings {
		rest -= topology.TotalSlots * h.Weight / total
	}
	for up := range 1 << len(holdings) {
		if bits.OnesCount(uint(up)) != rest {
			continue
		}
		moved := 0
		for i, h := range holdings {
			wanted := topology.TotalSlots * h.Weight / total
			if up>>i&1 == 1 {
				wanted++
				if topology.TotalSlots*h.Weight%total == 0 {
					moved = topology.TotalSlots + 1 // a whole part is not rounded
				}
			}
			moved += max(0, h.Slots.Count()-wanted)
		}
		least = min(least, moved)
	}
	return least
}

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		from, others topology.Slots
		n            int
		want         topology.Slots
	}{
		"the end of the only range":    {"0-99", "", 10, "90-99"},
		"a whole range that fits":      {"0-99 200-209 300-304", "", 10, "200-209"},
		"the shortest that is enough":  {"0-99 200-219", "", 10, "210-219"},
		"the largest, if none is":      {"0-9 20-24 30-34", "", 12, "0-9 23-24"},
		"next to what the other owns":  {"10-99", "0-9", 10, "10-19"},
		"at the end, next to its own":  {"10-99", "100-109", 10, "90-99"},
		"everything":                   {"3 5 7", "", 3, "3 5 7"},
		"from the first slot there is": {"0-9", "16383", 3, "7-9"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cut(c.from, c.others, c.n); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// No other choice would need fewer ranges.
func TestCutTakesFewRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var from topology.Slots
		var lengths []int
		first := 0
		for _, length := range rapid.SliceOfN(rapid.IntRange(1, 20), 1, 8).Draw(t, "lengths") {
			from = from.With(topology.Range(first, first+length-1))
			first += length + 1 // one slot is another's, so that ranges do not become one
			lengths = append(lengths, length)
		}
		n := rapid.IntRange(1, from.Count()).Draw(t, "slots")
		got := cut(from, "", n)
		slices.Sort(lengths)
		few := 0
		for left := n; left > 0; few++ {
			left -= lengths[len(lengths)-1-few]
		}
		if got.Count() != n || got.Without(from) != "" || len(got.Ranges()) != few {
			t.Errorf("%d of %s is %s, where %d ranges suffice", n, from, got, few)
		}
	})
}

func TestSplit(t *testing.T) {
	m := Move{From: 1, To: 2, Slots: "0-4 10 20-29"}
	for most, want := range map[int][]topology.Slots{
		100: {"0-4 10 20-29"},
		16:  {"0-4 10 20-29"},
		8:   {"0-4 10 20-21", "22-29"},
		5:   {"0-4", "10 20-23", "24-28", "29"},
	} {
		var got []topology.Slots
		for _, p := range m.Split(most) {
			if p.From != 1 || p.To != 2 {
				t.Errorf("%v", p)
			}
			got = append(got, p.Slots)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %d: %s", most, diff)
		}
	}
}

func TestSteps(t *testing.T) {
	three := Shape{Shards: 3, Replicas: 1}
	for name, c := range map[string]struct {
		edit Edit
		want []Step
	}{
		"nothing":                          {Edit{Have: three, Want: three}, nil},
		"more shards":                      {Edit{Have: three, Want: Shape{5, 1}}, []Step{Grow, MoveSlots}},
		"shards are there, slots are not":  {Edit{Have: Shape{5, 1}, Want: Shape{5, 1}, Unbalanced: true}, []Step{MoveSlots}},
		"fewer shards":                     {Edit{Have: Shape{5, 1}, Want: three, Unbalanced: true}, []Step{MoveSlots, Shrink}},
		"fewer shards, emptied already":    {Edit{Have: Shape{5, 1}, Want: three}, []Step{Shrink}},
		"fewer replicas":                   {Edit{Have: Shape{3, 2}, Want: three}, []Step{Shrink}},
		"another image":                    {Edit{Have: three, Want: three, Outdated: true}, []Step{Restart}},
		"more shards with fewer replicas":  {Edit{Have: Shape{3, 2}, Want: Shape{4, 1}, Outdated: true}, []Step{Grow, MoveSlots, Restart, Shrink}},
		"fewer shards, each of more nodes": {Edit{Have: Shape{5, 0}, Want: Shape{3, 1}, Unbalanced: true}, []Step{Grow, MoveSlots, Shrink}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.edit.Steps()); diff != "" {
				t.Error(diff)
			}
			m := c.edit.Meanwhile()
			if m.Shards < max(c.edit.Have.Shards, c.edit.Want.Shards) || m.Replicas < max(c.edit.Have.Replicas, c.edit.Want.Replicas) {
				t.Errorf("meanwhile %+v", m)
			}
		})
	}
}

func BenchmarkMoves(b *testing.B) {
	for _, shards := range []int{6, 100, 250} {
		b.Run(fmt.Sprint(shards), func(b *testing.B) {
			weights := slices.Repeat([]int{1}, shards)
			holdings := even(shards/2, weights...)
			for b.Loop() {
				_, _ = Moves(holdings)
			}
		})
	}
}
