package plan

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// WhoIsBehind is who stays of a shard that others leave, and does not have all of it: those that go
// may be the only copy. lag is how many bytes behind a replica may be.
func WhoIsBehind(n topology.Nodes, leaving []string, lag int64) string {
	goes := func(m topology.Node) bool { return slices.Contains(leaving, m.Name) }
	stay := staying(n, leaving)
	for _, m := range n {
		shard := stay.Shard(m.Shard)
		owner, owned := shard.Owner()
		if !goes(m) || !owned {
			continue // a shard of which nobody stays gave its slots away, and nobody is left to look at
		}
		for _, s := range shard {
			switch {
			case s.Name == owner.Name:
			case s.Server == nil:
				return s.Name + " does not answer"
			default:
				if doubt := s.Server.Trails(owner.Server, lag); doubt != "" {
					return s.Name + " " + doubt
				}
			}
		}
	}
	return ""
}

// ProveShrink allows that pods are removed for good, with their volumes: those that
// stay serve every slot, have all of it, know only each other, and those that go hold nothing else.
func ProveShrink(n topology.Nodes, leaving []string, lag int64) (proof ShrinkProof, doubt string) {
	if len(leaving) == 0 {
		return nil, "nothing is to be removed"
	}
	if doubt = whyNotRemovable(n, leaving, lag); doubt != "" {
		return nil, doubt
	}
	stay := staying(n, leaving)
	if id, by, found := stay.UnknownServer(); found {
		return nil, fmt.Sprintf("%s still lists %s", by.Name, id)
	}
	seen := fmt.Sprintf("%d nodes stay, serve %d slots and know no other node; %d that go hold nothing else", len(stay), topology.TotalSlots, len(leaving))
	return shrinkProof{evidenceOf(seen, pods(n, leaving)...)}, ""
}
