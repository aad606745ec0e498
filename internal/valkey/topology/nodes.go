package topology

import "slices"

// Nodes are all places of a cluster, in the order of shard and ordinal.
type Nodes []Node

// Shard is the nodes of one shard.
func (n Nodes) Shard(index int) Nodes {
	return slices.DeleteFunc(slices.Clone(n), func(m Node) bool { return m.Shard != index })
}

// ByID finds the node whose server is called id.
func (n Nodes) ByID(id string) (Node, bool) {
	return n.find(func(m Node) bool { return m.Server != nil && m.Server.ID == id })
}

// Silent is a node that does not answer.
func (n Nodes) Silent() (Node, bool) { return n.find(func(m Node) bool { return m.Server == nil }) }

// Unready is a node that Kubernetes does not call ready.
func (n Nodes) Unready() (Node, bool) { return n.find(func(m Node) bool { return !m.Ready }) }

// Unsynced is a replica whose link to its primary is not up.
func (n Nodes) Unsynced() (Node, bool) {
	return n.find(func(m Node) bool { return m.Server != nil && !m.Server.Synced })
}

// Holding is a node in which something of worth may be.
func (n Nodes) Holding() (Node, bool) {
	return n.find(func(m Node) bool { return m.Server != nil && m.Server.Holds() })
}

// Owner is the node that claims slots; in a shard there is one at most.
func (n Nodes) Owner() (Node, bool) {
	return n.find(func(m Node) bool { return m.Server != nil && m.Server.Self().Slots != "" })
}

// HoldingNothing is a node that answers and holds nothing.
func (n Nodes) HoldingNothing() (Node, bool) {
	return n.find(func(m Node) bool { return m.Server != nil && !m.Server.Holds() })
}

// AllBlank says that every node answers and none holds or knows anything. Of no
// nodes it is false: nothing seen proves nothing.
func (n Nodes) AllBlank() bool {
	_, other := n.find(func(m Node) bool { return m.Server == nil || !m.Server.Blank() })
	return len(n) > 0 && !other
}

// UnknownServer is an ID that a server lists and no node answers to: a server that is
// gone, or one of another cluster. Handshakes do not count yet.
func (n Nodes) UnknownServer() (id string, listedBy Node, found bool) {
	ours := n.ids()
	for _, by := range n.answering() {
		for _, p := range by.Server.View {
			if p.State != Handshake && !ours[p.ID] {
				return p.ID, by, true
			}
		}
	}
	return "", Node{}, false
}

// Assigned is how many slots have an owner by the owners' own words, and a slot
// holder that claims what another claims as well.
func (n Nodes) Assigned() (count int, rival Node, contested bool) {
	type claim struct {
		slots [2]int
		by    Node
	}
	var claims []claim
	for _, m := range n.answering() {
		for _, r := range m.Server.Self().Slots.Ranges() {
			claims = append(claims, claim{r, m})
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return a.slots[0] - b.slots[0] })
	next := 0 // the first slot that nobody was seen to claim yet
	for _, c := range claims {
		if c.slots[0] < next {
			rival, contested = c.by, true
		}
		count += max(0, c.slots[1]-max(c.slots[0], next)+1)
		next = max(next, c.slots[1]+1)
	}
	return count, rival, contested
}

func (n Nodes) answering() Nodes {
	return slices.DeleteFunc(slices.Clone(n), func(m Node) bool { return m.Server == nil })
}

func (n Nodes) ids() map[string]bool {
	ids := make(map[string]bool, len(n))
	for _, m := range n.answering() {
		ids[m.Server.ID] = true
	}
	return ids
}

func (n Nodes) find(is func(Node) bool) (Node, bool) {
	if i := slices.IndexFunc(n, is); i >= 0 {
		return n[i], true
	}
	return Node{}, false
}
