package topology

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
	return n.judge(whyNotMet)
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
	return n.judge(func(by, of Node) string {
		p, _ := by.Server.Peer(of.Server.ID)
		switch {
		case whyNotMet(by, of) != "":
			return whyNotMet(by, of)
		case p.State != "":
			return "calls " + of.Name + " " + string(p.State)
		case p.ID != by.Server.ID && p.Addr != where[p.ID]:
			return "has another address for " + of.Name
		case p.Follows != of.Server.Self().Follows:
			return "sees " + of.Name + " in another role"
		case p.Slots != of.Server.Self().Slots:
			return "sees " + of.Name + " with other slots"
		case p.Shard != of.Server.Self().Shard:
			return "sees " + of.Name + " in another shard"
		}
		return ""
	})
}

func whyNotMet(by, of Node) string {
	switch p, listed := by.Server.Peer(of.Server.ID); {
	case !listed || p.State == Handshake:
		return "does not know " + of.Name + " yet"
	case !p.Linked:
		return "has no link to " + of.Name
	}
	return ""
}

// judge asks about every pair, and for servers that nobody should know.
func (n Nodes) judge(why func(by, of Node) string) (doubt string, sound bool) {
	if len(n) == 0 {
		return "no node was seen", false
	}
	if m, silent := n.Silent(); silent {
		return m.Name + " " + m.Silence(), false
	}
	for _, of := range n {
		for _, by := range n {
			if w := why(by, of); w != "" {
				return by.Name + " " + w, false
			}
		}
	}
	for _, by := range n {
		if len(by.Server.View) != len(n) {
			return by.Name + " knows, or is about to meet, a server that is no pod of this cluster", false
		}
	}
	return "", true
}
