package cluster

import "fmt"

// majorityLost says that so few primaries answer that no replica can be elected in the place of the others, and what a
// person can do about it.
//
// NOTE: it is never done without one. A replica that takes over without votes takes what it has for the last word; if the
// primaries live on, out of our sight, everything they acknowledge meanwhile is lost.
func majorityLost(in input) (words string, lost bool) {
	owners := in.World.Nodes.Owners()
	doubt, quorum := in.World.Nodes.Quorum()
	if quorum || len(owners) == 0 { // nobody was heard of who could be missed
		return "", false
	}
	return doubt + ": bring back the pods of the others" + takeoverCommand(in, owners) + ".", true
}

// takeoverCommand is the command for a replica of a primary that is gone for good.
func takeoverCommand(in input, owners map[string]bool) string {
	for _, n := range in.World.Nodes {
		if n.Server == nil {
			continue
		}
		primary := n.Server.Self().Follows
		if _, answers := in.World.Nodes.ByID(primary); owners[primary] && !answers {
			return fmt.Sprintf("; if they are gone for good, let a replica of each take over with `kubectl exec -n %s %s -c valkey -- %s`",
				in.Obj.Namespace, n.Name, "valkey-cli cluster failover takeover")
		}
	}
	return ""
}
