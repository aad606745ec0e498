package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveForgetSlotOwner allows that an owner of slots is forgotten, and the slots with it, because what was
// in them is gone: everybody answers, nobody to this name, nobody has a copy, and there is a
// shard in which nobody has anything.
//
// NOTE: it is for clusters whose user wants to go on without. If it were wrong, slots would be
// given anew over data that somebody still has.
func ProveForgetSlotOwner(n topology.Nodes, id string) (proof ForgetSlotOwnerProof, doubt string) {
	if m, silent := n.Silent(); silent {
		return nil, m.Name + " is silent and may have what was lost"
	}
	if m, answers := n.ByID(id); answers {
		return nil, m.Name + " answers to it"
	}
	for _, by := range n {
		if doubt = whyNotGone(by, id); doubt != "" {
			return nil, doubt
		}
	}
	if !emptyShard(n) {
		return nil, "there is no shard without anything"
	}
	seen := fmt.Sprintf("%s: every server answers, none bears it or follows it, and a shard came back empty", id)
	return forgetSlotOwnerProof{evidenceOf(seen, Server(id))}, ""
}

// whyNotGone is why a server that answers may know more of one that is gone.
func whyNotGone(by topology.Node, id string) string {
	for _, p := range by.Server.View {
		switch {
		case p.Follows == id:
			return fmt.Sprintf("%s sees %s follow it", by.Name, p.ID)
		case p.ID == id && (p.State == "" || p.State == topology.Handshake):
			return by.Name + " has not given it up"
		}
	}
	for _, o := range by.Server.Open {
		if o.Peer == id {
			return fmt.Sprintf("%s has slot %d open with it", by.Name, o.Slot)
		}
	}
	return ""
}

// emptyShard says that there is a shard whose servers hold nothing, all of them.
func emptyShard(n topology.Nodes) bool {
	for _, m := range n {
		if _, holds := n.Shard(m.Shard).Holding(); !holds {
			return true
		}
	}
	return false
}
