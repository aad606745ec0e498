package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveForgetLeaving allows that servers whose pods are about to go are forgotten by those that stay, while
// they run: all that go may go at once, and nobody that stays sees anybody follow them who does not go.
//
// NOTE: they are not reset. What they know of the others is what clients hear that ask them, until
// their pods end; one that was reset tells them that nobody serves.
func ProveForgetLeaving(n topology.Nodes, leaving []string, lag int64) (proof ForgetProof, doubt string) {
	if doubt = whyNotRemovable(n, leaving, lag); doubt != "" {
		return nil, doubt
	}
	stay := staying(n, leaving)
	var ids, seen []string
	for _, m := range n {
		if m.Server != nil && slices.Contains(leaving, m.Name) {
			ids, seen = append(ids, m.Server.ID), append(seen, fmt.Sprintf("%s: %s %s", m.Server.ID, m.Name, holds(m)))
		}
	}
	if doubt = whyNeeded(stay, ids...); doubt != "" {
		return nil, doubt
	}
	if more := len(seen) - mostTold; more > 0 {
		seen = append(seen[:mostTold], fmt.Sprintf("%d more likewise", more))
	}
	words := strings.Join(seen, "; ") + "; those that stay serve everything without them"
	return forgetProof{evidenceOf(words, servers(ids)...)}, ""
}

// mostTold is how many servers a proof tells of one by one.
const mostTold = 3

func staying(n topology.Nodes, leaving []string) topology.Nodes {
	return slices.DeleteFunc(slices.Clone(n), func(m topology.Node) bool { return slices.Contains(leaving, m.Name) })
}

// whyNotRemovable is why pods may not go yet: those that stay do not serve everything, or do not have
// all of it, or those that go hold something else.
func whyNotRemovable(n topology.Nodes, leaving []string, lag int64) (doubt string) {
	stay := staying(n, leaving)
	if m, silent := stay.Silent(); silent {
		return m.Name + " stays and does not answer"
	}
	if doubt = whyNotServed(stay); doubt != "" {
		return "without those that go: " + doubt
	}
	if doubt = WhoIsBehind(n, leaving, lag); doubt != "" {
		return doubt
	}
	for _, m := range n {
		switch goes := slices.Contains(leaving, m.Name); {
		case goes && m.Server != nil:
			if doubt = whyPrecious(n, stay, m); doubt != "" {
				return doubt
			}
		case !goes && len(m.Server.Open) > 0:
			return fmt.Sprintf("%s has slot %d open", m.Name, m.Server.Open[0].Slot)
		}
	}
	return ""
}

// whyPrecious is why the server of a pod that goes cannot be done without: somebody that stays needs
// it, or nobody else has what it holds.
func whyPrecious(n, stay topology.Nodes, m topology.Node) string {
	self := m.Server.Self()
	for _, by := range stay {
		if p, _ := by.Server.Peer(self.ID); p.Slots != "" {
			return fmt.Sprintf("%s sees %s with slots %s", by.Name, m.Name, p.Slots)
		}
		if by.Server.Self().Follows == self.ID {
			return by.Name + " follows " + m.Name
		}
	}
	switch {
	case self.Slots != "" || len(m.Server.Open) > 0:
		return m.Name + " has slots"
	case m.Server.Empty:
		return ""
	case self.Follows == "":
		return m.Name + " is a primary and holds keys"
	}
	if primary, answers := n.ByID(self.Follows); !answers || primary.Server.Self().Follows != "" {
		return m.Name + " may be the only copy: whom it follows is no primary that answers"
	}
	return ""
}

// holds is what is in a server that is not precious.
func holds(m topology.Node) string {
	if m.Server.Empty {
		return "holds nothing"
	}
	return "is a copy of " + m.Server.Self().Follows
}
