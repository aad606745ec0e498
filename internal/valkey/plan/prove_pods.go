package plan

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveDeletePod allows that a pod is deleted, to be made anew: it is no primary, by
// its own word and by that of all voters that answer, and every other node of its shard
// has what it has. lag is how many bytes behind a replica may be.
func ProveDeletePod(n topology.Nodes, pod string, lag int64) (proof PodProof, doubt string) {
	i := slices.IndexFunc(n, func(m topology.Node) bool { return m.Name == pod })
	if i < 0 || n[i].UID == "" {
		return nil, pod + " does not exist"
	}
	m := n[i]
	if m.NeverRan {
		return podProof{evidenceOf(pod+" has never run", Pod(m.Name, m.UID))}, ""
	}
	if m.Server == nil {
		return nil, pod + " does not answer: what it is and has is not known"
	}
	if doubt = whyNotServed(n); doubt != "" {
		return nil, doubt
	}
	if doubt = whyIndispensable(n, m); doubt != "" {
		return nil, doubt
	}
	copies, doubt := otherCopies(n, m, lag)
	if doubt != "" {
		return nil, doubt
	}
	seen := fmt.Sprintf("%s is no primary; %d other copies of its shard are in sync; %d slots are served", pod, copies, topology.TotalSlots)
	return podProof{evidenceOf(seen, Pod(m.Name, m.UID))}, ""
}

// whyNotServed is what is missing for all slots to be served, and by a majority that lives.
func whyNotServed(n topology.Nodes) string {
	if doubt, quorum := n.Quorum(); !quorum {
		return doubt
	}
	count, rival, contested := n.Assigned()
	switch {
	case contested:
		return rival.Name + " claims slots that another claims"
	case count != topology.TotalSlots:
		return fmt.Sprintf("%d of %d slots are served", count, topology.TotalSlots)
	}
	return ""
}

// whyIndispensable is who needs the server to go on, itself included.
func whyIndispensable(n topology.Nodes, m topology.Node) string {
	if self := m.Server.Self(); self.Follows == "" && m.Server.Holds() {
		return m.Name + " is a primary and holds keys or slots"
	}
	for _, v := range n.Voters() {
		if p, known := v.Server.Peer(m.Server.ID); known && p.Slots != "" {
			return v.Name + " sees it with slots"
		}
	}
	for _, by := range n {
		if by.Server != nil && by.Server.Self().Follows == m.Server.ID {
			return by.Name + " follows it"
		}
	}
	return ""
}

// otherCopies counts the copies of a shard besides one, all of which must be in sync.
func otherCopies(n topology.Nodes, but topology.Node, lag int64) (copies int, doubt string) {
	shard := n.Shard(but.Shard)
	owner, found := shard.Owner()
	if !found {
		return 0, fmt.Sprintf("no server owns the slots of shard %d", but.Shard)
	}
	for _, m := range shard {
		if m.Name == but.Name {
			continue
		}
		if m.Server == nil {
			return 0, m.Name + " does not answer"
		}
		if m.Name != owner.Name {
			if doubt := m.Server.Trails(owner.Server, lag); doubt != "" {
				return 0, m.Name + " " + doubt
			}
		}
		copies++
	}
	return copies, ""
}
