package plan

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// FirstPrimaries names the pod of each of the first shards that is to be its primary in a new cluster, so that no
// machine has more of them than need be: who loses the machine with most of them can elect nobody in their place. It
// goes by where pods are and by nothing else, so that whoever asks gets the same answer, even when some of the shards
// have their slots by then.
func FirstPrimaries(nodes topology.Nodes, shards int) []string {
	for most := 1; ; most++ {
		s := newAssignment(make([]topology.Nodes, shards), most)
		for i := range s.shards {
			s.shards[i] = nodes.Shard(i)
		}
		if s.all() {
			return s.chosen
		}
	}
}

// NewPrimaries names, by shard, the one among those that may be its primary, so that no machine has more of them than need be.
// A shard that has one has no choice, and those that have one stay where they are.
func NewPrimaries(candidates []topology.Nodes) []string {
	for most := 1; ; most++ {
		s := newAssignment(candidates, most)
		s.emptiest = true
		if s.all() {
			return s.chosen
		}
	}
}

func newAssignment(shards []topology.Nodes, most int) assignment {
	return assignment{shards: shards, most: most, on: map[string][]int{}, chosen: make([]string, len(shards))}
}

// assignment finds a place for every primary where no machine has more than so many. It is Kuhn's matching.
type assignment struct {
	shards []topology.Nodes
	most   int
	on     map[string][]int // the shards whose primary is on a machine
	chosen []string
	// emptiest says that a machine with fewer is better, also where there is room on another.
	emptiest bool
}

func (s *assignment) all() bool {
	for i := range s.shards {
		if len(s.shards[i]) > 0 && !s.assign(i, map[string]bool{}) {
			return false
		}
	}
	return true
}

// assign finds one for one shard. Others make room if there is no free one and they have another place.
func (s *assignment) assign(shard int, asked map[string]bool) bool {
	for _, n := range s.inOrder(shard) {
		if there := s.on[n.Host]; !asked[n.Host] && len(there) < s.most {
			s.on[n.Host], s.chosen[shard] = append(there, shard), n.Name
			return true
		}
	}
	for _, n := range s.shards[shard] {
		if asked[n.Host] {
			continue
		}
		asked[n.Host] = true
		for i, other := range s.on[n.Host] {
			if s.assign(other, asked) {
				s.on[n.Host][i], s.chosen[shard] = shard, n.Name
				return true
			}
		}
	}
	return false
}

// inOrder are those that may be the primary of a shard, the best first.
func (s *assignment) inOrder(shard int) topology.Nodes {
	if !s.emptiest {
		return s.shards[shard]
	}
	return slices.SortedStableFunc(slices.Values(s.shards[shard]), func(a, b topology.Node) int { return len(s.on[a.Host]) - len(s.on[b.Host]) })
}
