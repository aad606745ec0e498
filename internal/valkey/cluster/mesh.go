package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// mostIntroductions bounds what one pass introduces anew: in a large cluster the
// servers' own gossip is as fast.
const mostIntroductions = 512

// missingIntroductions is who has yet to meet whom: in a ring, each server meets the one after it,
// the second, the fourth, and so on. That is a few introductions for each, and
// everyone has heard of everyone after as few rounds of gossip.
func missingIntroductions(nodes topology.Nodes) (missing []Introduction) {
	for i, of := range nodes {
		var to []Member
		for step := 1; step < len(nodes); step *= 2 {
			other := nodes[(i+step)%len(nodes)]
			if !of.Server.Knows(other.Server.ID) && !inHandshake(of, other) {
				to = append(to, memberOf(other))
			}
		}
		if len(to) > 0 {
			missing = append(missing, Introduction{memberOf(of), to})
		}
	}
	return missing
}

func inHandshake(of, with topology.Node) bool {
	return slices.ContainsFunc(of.Server.View, func(p topology.Peer) bool {
		return p.State == topology.Handshake && p.Addr == with.Addr
	})
}

// repeatedIntroductions is who must introduce itself anew, and to whom: a server that is
// known, and not seen as what it is. Being met once more, it is seen at once.
func repeatedIntroductions(nodes topology.Nodes) (again []Introduction) {
	pairs := 0
	for _, m := range nodes.Disagreements() {
		of := memberOf(m.Of)
		if !m.By.Server.Knows(of.ID) || !m.Of.Server.Knows(m.By.Server.ID) {
			continue // servers that do not know each other are not introduced here: one of them holds something already
		}
		if pairs++; pairs > mostIntroductions {
			break
		}
		if last := len(again) - 1; last < 0 || again[last].Of != of {
			again = append(again, Introduction{Of: of})
		}
		at := &again[len(again)-1]
		at.To = append(at.To, memberOf(m.By))
	}
	return again
}
