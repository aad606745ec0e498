package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveForget allows that a server is forgotten by all others: nobody sees slots of it
// or a replica, and it does not run, or was reset and holds nothing. A slot owner that
// is forgotten takes its slots with it.
//
// NOTE: that it knows nobody is not asked. Since 8.1 those that know it introduce
// themselves within seconds after a reset; once all have forgotten it, it is reset again.
func ProveForget(n topology.Nodes, id string) (proof ForgetProof, doubt string) {
	if doubt = unwanted(n, id); doubt != "" {
		return nil, doubt
	}
	how := "nobody answers to it"
	if m, answers := n.ByID(id); answers {
		if m.Server.Holds() {
			return nil, m.Name + " holds keys, slots or a role"
		}
		how = m.Name + " holds nothing"
	} else if m, may := mayRun(n); may {
		return nil, m.Name + " is silent and may be the one to forget"
	}
	if doubt, quorum := n.Quorum(); !quorum {
		return nil, doubt
	}
	seen := fmt.Sprintf("%s: %s, and no server sees slots or a replica of it", id, how)
	return forgetProof{evidenceOf(seen, id)}, ""
}

// unwanted is who still needs a server, in words.
func unwanted(n topology.Nodes, id string) string {
	for _, by := range n {
		if by.Server == nil || by.Server.ID == id {
			continue
		}
		for _, p := range by.Server.View {
			if p.ID == id && p.Slots != "" {
				return fmt.Sprintf("%s sees it with slots %s", by.Name, p.Slots)
			}
			if p.Follows == id {
				return fmt.Sprintf("%s sees %s follow it", by.Name, p.ID)
			}
		}
		for _, o := range by.Server.Open {
			if o.Peer == id {
				return fmt.Sprintf("%s has slot %d open with it", by.Name, o.Slot)
			}
		}
	}
	return ""
}
