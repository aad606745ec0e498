package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveForget allows that a server that is gone is forgotten by all others: nobody sees slots
// of it or a replica, and it does not run. A slot owner that is forgotten takes its slots with it.
func ProveForget(n topology.Nodes, id string) (proof ForgetProof, doubt string) {
	if doubt = whyNeeded(n, id); doubt != "" {
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
	seen := id + ": no server answers to it, and none sees slots or a replica of it"
	return forgetProof{evidenceOf(seen, Server(id))}, ""
}

// whyNeeded is who still needs one of these servers, in words. That they need each other does not count.
func whyNeeded(n topology.Nodes, ids ...string) string {
	goes := make(map[string]bool, len(ids))
	for _, id := range ids {
		goes[id] = true
	}
	for _, by := range n {
		if by.Server == nil || goes[by.Server.ID] {
			continue
		}
		for _, p := range by.Server.View {
			if goes[p.ID] && p.Slots != "" {
				return fmt.Sprintf("%s sees %s with slots %s", by.Name, p.ID, p.Slots)
			}
			if goes[p.Follows] && !goes[p.ID] {
				return fmt.Sprintf("%s sees %s follow %s", by.Name, p.ID, p.Follows)
			}
		}
		for _, o := range by.Server.Open {
			if goes[o.Peer] {
				return fmt.Sprintf("%s has slot %d open with %s", by.Name, o.Slot, o.Peer)
			}
		}
	}
	return ""
}
