package topology

import "fmt"

// Disagreement is that one node does not see another as that one sees itself.
type Disagreement struct{ By, Of Node }

// Disagreements lists who does not see whom as they are: not known at all, or in
// another role, with other slots, or in another shard. What passes by itself (a
// link that is being made, a suspicion) is not among them.
func (n Nodes) Disagreements() (list []Disagreement) {
	nodes := n.answering()
	for _, of := range nodes {
		claim := of.Server.Self().Claim
		for _, by := range nodes {
			if p, listed := by.Server.Peer(of.Server.ID); !listed || p.State == Handshake || p.Claim != claim {
				list = append(list, Disagreement{By: by, Of: of})
			}
		}
	}
	return list
}

// Met says that every node answers and knows every other, past all handshakes and
// with standing links. If not, doubt says in words what is in the way.
func (n Nodes) Met() (doubt string, met bool) {
	return n.judge(func(by Node, of *Server) string { return whyNotMet(by, of) })
}

// Agree says that they have met and that all see the same cluster: who is
// reachable and where, who follows whom, which slots are whose, and which servers
// are one shard.
//
// NOTE: shards are part of it. For a while after a REPLICATE a server may have
// written a replica with another shard than its primary's to its nodes.conf, and
// one that is restarted then never starts again.
func (n Nodes) Agree() (doubt string, agree bool) {
	where := make(map[string]string, len(n))
	for _, m := range n.answering() {
		where[m.Server.ID] = m.Addr
	}
	return n.judge(func(by Node, of *Server) string {
		p, _ := by.Server.Peer(of.ID)
		switch {
		case whyNotMet(by, of) != "":
			return whyNotMet(by, of)
		case p.State != "":
			return "calls it " + string(p.State)
		case p.ID != by.Server.ID && p.Addr != where[p.ID]:
			return "has another address for it"
		case p.Follows != of.Self().Follows:
			return "sees it in another role"
		case p.Slots != of.Self().Slots:
			return "sees it with other slots"
		case p.Shard != of.Self().Shard:
			return "sees it in another shard"
		}
		return ""
	})
}

func whyNotMet(by Node, of *Server) string {
	switch p, listed := by.Server.Peer(of.ID); {
	case !listed || p.State == Handshake:
		return "does not know it yet"
	case !p.Linked:
		return "has no link to it"
	}
	return ""
}

// judge asks about every pair, and for servers that nobody should know.
func (n Nodes) judge(why func(by Node, of *Server) string) (doubt string, sound bool) {
	if len(n) == 0 {
		return "no node was seen", false
	}
	if m, silent := n.Silent(); silent {
		return m.Name + " does not answer", false
	}
	for _, of := range n {
		for _, by := range n {
			if w := why(by, of.Server); w != "" {
				return fmt.Sprintf("%s: %s %s", of.Name, by.Name, w), false
			}
		}
	}
	for _, by := range n {
		if len(by.Server.View) != len(n) {
			return by.Name + " lists a server that is no pod of this cluster, or shakes hands with one", false
		}
	}
	return "", true
}
