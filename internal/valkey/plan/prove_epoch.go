package plan

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveRaiseEpoch allows that a primary takes a new epoch, the highest there is, without a vote: all
// see its slots as its own, a majority of the primaries is among them, and neither a slot nor the
// shard can be about to get another owner. Otherwise that one's claim, which was voted for, would be
// lost against the new epoch, and with it what was written there.
func ProveRaiseEpoch(n topology.Nodes, id string) (proof EpochProof, doubt string) {
	primary, found := n.ByID(id)
	switch {
	case !found:
		return nil, id + " does not answer"
	case primary.Server.Self().Follows != "":
		return nil, primary.Name + " is no primary"
	case !primary.Server.OK:
		return nil, primary.Name + " does not serve: it may have been replaced"
	}
	if doubt, quorum := n.Quorum(); !quorum {
		return nil, doubt
	}
	for _, m := range n.Shard(primary.Shard) {
		if m.Server == nil || m.Leaving {
			return nil, m.Name + " is silent, or goes: a failover may be under way"
		}
	}
	for _, by := range n {
		if by.Server == nil {
			continue
		}
		if doubt = whyDisputed(by, primary); doubt != "" {
			return nil, doubt
		}
	}
	seen := fmt.Sprintf("all see %s with its slots [%s] in epoch %d, and none is on its way", primary.Name, primary.Server.Self().Slots, primary.Server.Self().Epoch)
	return epochProof{evidenceOf(seen, Server(id))}, ""
}

// whyDisputed is what one server knows that speaks against a primary. Who holds nothing has no say.
func whyDisputed(by, primary topology.Node) string {
	p, known := by.Server.Peer(primary.Server.ID)
	switch {
	case len(by.Server.Open) > 0:
		return fmt.Sprintf("%s has slot %d open", by.Name, by.Server.Open[0].Slot)
	case !by.Server.Holds():
		return ""
	case !known || p.State != "":
		return fmt.Sprintf("%s does not know %s, or calls it %s", by.Name, primary.Name, p.State)
	case p.Slots != primary.Server.Self().Slots:
		return by.Name + " sees " + primary.Name + " with other slots"
	}
	return ""
}
