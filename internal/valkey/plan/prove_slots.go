package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Given is slots that one server gave to another, key by key, and how many keys of each
// the source still holds. They were counted after the source was seen.
type Given struct {
	Slots          topology.Slots
	Source, Target string // IDs
	Keys           map[int]int
}

// ProveSetSlotNode allows that servers believe in a new owner of slots: the source, a
// primary that sends new keys on, holds none of theirs. Otherwise it would delete what
// it holds as soon as it heard of it.
func ProveSetSlotNode(n topology.Nodes, g Given) (proof SlotProof, doubt string) {
	source, found := n.ByID(g.Source)
	if !found {
		return nil, "the source " + g.Source + " does not answer"
	}
	target, found := n.ByID(g.Target)
	switch {
	case !found:
		return nil, "the target " + g.Target + " does not answer"
	case source.Server.Self().Follows != "":
		return nil, source.Name + " is a replica: what it holds says nothing of its primary"
	case target.Server.Self().Follows != "":
		return nil, target.Name + " is a replica, and no owner of slots"
	case g.Slots == "" || g.Source == g.Target:
		return nil, "there is nothing to give"
	}
	for _, slot := range g.Slots.List() {
		if doubt = whyNotGiven(source, target, slot); doubt != "" {
			return nil, doubt
		}
		if keys, counted := g.Keys[slot]; !counted || keys != 0 {
			return nil, fmt.Sprintf("%s holds keys of slot %d, or they were not counted", source.Name, slot)
		}
	}
	seen := fmt.Sprintf("%s sends on slots %s to %s and holds no key of them", source.Name, g.Slots, target.Name)
	return slotProof{evidence: evidenceOf(seen, Slots(g.Slots)), owner: g.Target}, ""
}

// whyNotGiven is what keeps a slot from being the target's: the source may still take new
// keys of it, or the target would refuse them.
func whyNotGiven(source, target topology.Node, slot int) string {
	one := topology.Range(slot, slot)
	to, goes := source.Server.Migrates(slot)
	from, comes := target.Server.Imports(slot)
	owns := target.Server.Self().Slots.Overlaps(one)
	switch {
	case source.Server.Self().Slots.Overlaps(one) && (!goes || to != target.Server.ID):
		return fmt.Sprintf("%s owns slot %d and does not send it on to %s", source.Name, slot, target.Name)
	case !owns && (!comes || from != source.Server.ID):
		return fmt.Sprintf("%s does not take slot %d from %s", target.Name, slot, source.Name)
	}
	return ""
}
