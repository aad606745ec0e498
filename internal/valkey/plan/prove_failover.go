package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ProveFailover allows a replica to take over from a primary that lives: nothing is
// lost, because the primary holds its clients until the replica has everything. lag is
// how many bytes behind the replica may be when it is asked.
func ProveFailover(n topology.Nodes, to string, lag int64) (proof FailoverProof, doubt string) {
	if doubt, ready := n.Handover(to, lag); !ready {
		return nil, doubt
	}
	candidate, _ := n.ByID(to)
	primary, _ := n.ByID(candidate.Server.Self().Follows)
	seen := fmt.Sprintf("%s is at %d of %d of %s; %d voters back it in epoch %d", candidate.Name, candidate.Server.Offset,
		primary.Server.Offset, primary.Name, len(n.Voters()), primary.Server.Self().Epoch)
	return failoverProof{evidence: evidenceOf(seen, Server(to))}, ""
}

// Slack is by how much a replica may have lost its link before its primary ended: both
// are told in whole seconds, by two clocks.
const Slack = 2 * time.Second

// ProveForcedFailover allows a replica to take over from a primary that is known not to
// run, for this long: the replica is the best there is, and followed to the end.
func ProveForcedFailover(n topology.Nodes, to string, endedFor time.Duration) (proof FailoverProof, doubt string) {
	candidate, found := n.ByID(to)
	if !found {
		return nil, to + " does not answer"
	}
	shard := n.Shard(candidate.Shard)
	if doubt = whyMayRun(n, candidate); doubt != "" {
		return nil, doubt
	}
	copies, doubt := whyNotNewest(shard, candidate, endedFor)
	if doubt != "" {
		return nil, doubt
	}
	if doubt = whyNoMajority(n, candidate); doubt != "" {
		return nil, doubt
	}
	end := "has ended"
	if slices.ContainsFunc(shard, topology.Node.RefusesConnections) {
		end = "refuses connections, and no server has one to it"
	}
	seen := fmt.Sprintf("its primary %s; %s is the best of %d copies, at %d, and a majority of primaries answers", end, candidate.Name, copies, candidate.Server.Offset)
	return failoverProof{evidence: evidenceOf(seen, Server(to)), forced: true}, ""
}

// whyNotNewest is why a replica may not be the newest copy of its primary, which ended so long ago;
// otherwise how many copies there are.
func whyNotNewest(shard topology.Nodes, candidate topology.Node, endedFor time.Duration) (count int, doubt string) {
	ended := slices.ContainsFunc(shard, func(m topology.Node) bool { return m.Server == nil && m.Ended })
	var copies []*topology.Server
	for _, m := range shard {
		if m.Server != nil && m.Server.Self().Follows == candidate.Server.Self().Follows {
			copies = append(copies, m.Server)
		}
	}
	best, found := topology.Best(copies)
	lost := time.Duration(candidate.Server.LinkDown) * time.Second
	switch {
	case !found || !candidate.Server.Copies():
		return 0, candidate.Name + " holds no copy of its primary"
	case best.ID != candidate.Server.ID:
		return 0, fmt.Sprintf("%s has more of its primary than %s", best.ID, candidate.Name)
	case candidate.Server.Synced && !ended:
		return 0, candidate.Name + " has a link to its primary, and no primary is known to have ended"
	case !candidate.Server.Synced && lost > endedFor+Slack:
		return 0, fmt.Sprintf("%s lost its link %s ago, and its primary ended %s ago", candidate.Name, lost, endedFor)
	}
	return len(copies), ""
}

// whyMayRun is why the primary of a replica may still run.
func whyMayRun(n topology.Nodes, candidate topology.Node) string {
	dead := candidate.Server.Self().Follows
	if dead == "" {
		return candidate.Name + " is a primary"
	}
	if m, answers := n.ByID(dead); answers {
		return "its primary " + m.Name + " answers"
	}
	for _, m := range n.Shard(candidate.Shard) {
		doubt := ""
		switch {
		case !m.MayRun():
		case m.RefusesConnections():
			doubt = whyLinked(n, m, candidate)
		default:
			doubt = m.Name + " is silent and may be the primary, which is not known to have ended"
		}
		if doubt != "" {
			return doubt
		}
	}
	return ""
}

// mayRun is a node that does not answer and is not known to have ended.
func mayRun(n topology.Nodes) (topology.Node, bool) {
	i := slices.IndexFunc(n, topology.Node.MayRun)
	if i < 0 {
		return topology.Node{}, false
	}
	return n[i], true
}

// whyLinked is who still has a connection to the primary of a replica, whose pod refuses them. That one alone is
// refused may be its own network's doing. That nobody listens there for any of those who would elect another
// is the end of the process.
func whyLinked(n topology.Nodes, refuses, candidate topology.Node) string {
	dead := candidate.Server.Self().Follows
	for _, m := range n.Shard(candidate.Shard) {
		if m.Server != nil && m.Server.Self().Follows == dead && m.Server.Synced {
			return fmt.Sprintf("%s refuses connections, and %s has one", refuses.Name, m.Name)
		}
	}
	for _, v := range n.Voters() {
		if p, known := v.Server.Peer(dead); known && p.Linked {
			return fmt.Sprintf("%s refuses connections, and %s has one", refuses.Name, v.Name)
		}
	}
	return ""
}

// whyNoMajority is why too few would vote: no majority answers, or one has given the slots of
// the primary to another already.
func whyNoMajority(n topology.Nodes, candidate topology.Node) string {
	dead := candidate.Server.Self().Follows
	if doubt, quorum := n.Quorum(); !quorum {
		return doubt
	}
	own, lists := candidate.Server.Peer(dead)
	for _, v := range n.Voters() {
		p, known := v.Server.Peer(dead)
		if !known || p.Slots == "" {
			return v.Name + " does not see slots of the primary that ended"
		}
		if lists && p.Slots != own.Slots { // what was given away a moment ago would be claimed back
			return fmt.Sprintf("%s and %s see other slots of the primary that ended", v.Name, candidate.Name)
		}
	}
	return ""
}
