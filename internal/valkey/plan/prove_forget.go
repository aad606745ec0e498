package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveForget allows that a server that is gone is forgotten by all others: nobody sees slots
// of it or a replica, and it does not run. A slot owner that is forgotten takes its slots with it.
func ProveForget(n topology.Nodes, id string) (proof ForgetProof, doubt string) {
	if doubt = unwanted(n, id); doubt != "" {
		return nil, doubt
	}
	if m, answers := n.ByID(id); answers {
		return nil, m.Name + " answers to it"
	}
	if m, may := mayRun(n); may {
		return nil, m.Name + " is silent and may be the one to forget"
	}
	if doubt, quorum := n.Quorum(); !quorum {
		return nil, doubt
	}
	seen := id + ": nobody answers to it, and no server sees slots or a replica of it"
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
