package plan

import "github.com/statecraft-dev/statecraft/internal/valkey/topology"

// FirstPrimaries names the pod of each of the first shards that is to be its primary in a new cluster, so that no
// machine has more of them than need be: who loses the machine with most of them can elect nobody in their place. It
// goes by where pods are and by nothing else, so that whoever asks gets the same answer, even when some of the shards
// have their slots by then.
func FirstPrimaries(nodes topology.Nodes, shards int) []string {
	for most := 1; ; most++ {
		s := assignment{shards: make([]topology.Nodes, shards), most: most, on: map[string][]int{}, chosen: make([]string, shards)}
		if s.all(nodes) {
			return s.chosen
		}
	}
}

// assignment finds a place for every primary where no machine has more than so many. It is Kuhn's matching.
type assignment struct {
	shards []topology.Nodes
	most   int
	on     map[string][]int // the shards whose primary is on a machine
	chosen []string
}

func (s *assignment) all(nodes topology.Nodes) bool {
	for i := range s.shards {
		s.shards[i] = nodes.Shard(i)
		if len(s.shards[i]) > 0 && !s.assign(i, map[string]bool{}) {
			return false
		}
	}
	return true
}

// assign finds one for one shard. Others make room if there is no free one and they have another place.
func (s *assignment) assign(shard int, asked map[string]bool) bool {
	for _, n := range s.shards[shard] {
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
