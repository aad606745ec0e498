package plan

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveDeleteBroken allows that a pod whose server does not answer is deleted, to be made
// anew: whatever is in it, every other node of its shard answers and has all of it, and
// nobody sees slots at a server that does not answer, which it might be. lag is how many
// bytes behind a replica may be.
func ProveDeleteBroken(n topology.Nodes, pod string, lag int64) (proof PodProof, doubt string) {
	i := slices.IndexFunc(n, func(m topology.Node) bool { return m.Name == pod })
	if i < 0 || n[i].UID == "" {
		return nil, pod + " does not exist"
	}
	m := n[i]
	if m.Server != nil {
		return nil, pod + " answers: what it is can be asked"
	}
	if doubt = whyNotServed(n); doubt != "" {
		return nil, doubt
	}
	if by, id, owns := unseenOwner(n); owns {
		return nil, fmt.Sprintf("%s sees slots at %s, which does not answer", by.Name, id)
	}
	copies, doubt := otherCopies(n, m, lag)
	if doubt != "" {
		return nil, doubt
	}
	seen := fmt.Sprintf("%s does not answer, and no server sees slots at it; %d other copies of its shard are in sync; %d slots are served", pod, copies, topology.TotalSlots)
	return podProof{evidenceOf(seen, Pod(m.Name, m.UID))}, ""
}

// unseenOwner is a server that somebody sees with slots and that does not answer.
func unseenOwner(n topology.Nodes) (by topology.Node, id string, owns bool) {
	answers := map[string]bool{}
	for _, m := range n {
		if m.Server != nil {
			answers[m.Server.ID] = true
		}
	}
	for _, by := range n {
		if by.Server == nil {
			continue
		}
		for _, p := range by.Server.View {
			if p.Slots != "" && !answers[p.ID] {
				return by, p.ID, true
			}
		}
	}
	return topology.Node{}, "", false
}
