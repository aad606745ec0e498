package plan

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveDismiss allows that servers whose pods are about to go are forgotten by those that stay, while
// they run: all that go may go at once, and nobody that stays sees anybody follow the one that is
// forgotten. The proofs are by ID; doubt is what is in the way of all, or of some.
//
// NOTE: they are not reset. What they know of the others is what clients hear that ask them, until
// their pods end; one that was reset tells them that nobody serves.
func ProveDismiss(n topology.Nodes, leaving []string, lag int64) (proofs map[string]ForgetProof, doubt string) {
	if doubt = removable(n, leaving, lag); doubt != "" {
		return nil, doubt
	}
	proofs = map[string]ForgetProof{}
	stay := staying(n, leaving)
	for _, m := range n {
		if m.Server == nil || !slices.Contains(leaving, m.Name) {
			continue
		}
		id := m.Server.ID
		if why := unwanted(stay, id); why != "" {
			doubt = why
			continue
		}
		seen := fmt.Sprintf("%s: %s goes and %s; those that stay serve everything without it", id, m.Name, holds(m))
		proofs[id] = forgetProof{evidenceOf(seen, id)}
	}
	return proofs, doubt
}

func staying(n topology.Nodes, leaving []string) topology.Nodes {
	return slices.DeleteFunc(slices.Clone(n), func(m topology.Node) bool { return slices.Contains(leaving, m.Name) })
}

// removable is why pods may not go yet: those that stay do not serve everything, or do not have
// all of it, or those that go hold something else.
func removable(n topology.Nodes, leaving []string, lag int64) (doubt string) {
	stay := staying(n, leaving)
	if m, silent := stay.Silent(); silent {
		return m.Name + " stays and does not answer"
	}
	if doubt = covered(stay); doubt != "" {
		return "without those that go: " + doubt
	}
	if doubt = Behind(n, leaving, lag); doubt != "" {
		return doubt
	}
	for _, m := range n {
		switch goes := slices.Contains(leaving, m.Name); {
		case goes && m.Server != nil:
			if doubt = precious(n, stay, m); doubt != "" {
				return doubt
			}
		case !goes && len(m.Server.Open) > 0:
			return fmt.Sprintf("%s has slot %d open", m.Name, m.Server.Open[0].Slot)
		}
	}
	return ""
}

// precious is why the server of a pod that goes cannot be done without: somebody that stays needs
// it, or nobody else has what it holds.
func precious(n, stay topology.Nodes, m topology.Node) string {
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
