package plan

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveDismiss allows that a server whose pod is about to go is forgotten by those that stay,
// while it runs: it is spare, and none of them sees anybody follow it.
//
// NOTE: it is not reset. What it knows of the others is what clients hear that ask it, until its
// pod ends; one that was reset tells them that nobody serves.
func ProveDismiss(n topology.Nodes, leaving []string, id string) (proof ForgetProof, doubt string) {
	m, answers := n.ByID(id)
	if !answers || !slices.Contains(leaving, m.Name) {
		return nil, id + " is no server whose pod is to go"
	}
	how, doubt := spare(n, leaving, m)
	if doubt != "" {
		return nil, doubt
	}
	if doubt, quorum := n.Quorum(); !quorum {
		return nil, doubt
	}
	seen := fmt.Sprintf("%s: %s goes, %s, and no server sees slots or a replica of it", id, m.Name, how)
	return forgetProof{evidenceOf(seen, id)}, ""
}

// spare says why the server of a pod that goes can be done without, or why it cannot: somebody
// that stays needs it, or nobody else has what it holds.
func spare(n topology.Nodes, leaving []string, m topology.Node) (how, doubt string) {
	stay := slices.DeleteFunc(slices.Clone(n), func(o topology.Node) bool { return slices.Contains(leaving, o.Name) })
	if doubt = unwanted(stay, m.Server.ID); doubt != "" {
		return "", doubt
	}
	self := m.Server.Self()
	switch {
	case self.Slots != "" || len(m.Server.Open) > 0:
		return "", m.Name + " has slots"
	case self.Follows == "" && !m.Server.Empty:
		return "", m.Name + " is a primary and holds keys"
	case self.Follows == "":
		return "it holds nothing", ""
	}
	primary, answers := n.ByID(self.Follows)
	if !answers || primary.Server.Self().Follows != "" {
		return "", m.Name + " may be the only copy: whom it follows is no primary that answers"
	}
	return "it is a copy of " + primary.Name, ""
}
