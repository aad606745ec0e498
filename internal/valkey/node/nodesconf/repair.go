package nodesconf

import (
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const shardField = "shard-id="

// Fragile says that a server of this version does not start when a replica is
// written down with another shard than its primary's. It writes such a file itself
// in the first seconds after a server became a replica.
func Fragile(version string) bool { return topology.Older(version, "9") }

// Repair gives every replica the shard of the primary that it follows, and returns
// the IDs of those that had another one. Everything else stays as it is, byte for
// byte.
//
// NOTE: a shard-id is copied, never made up: servers take one that nobody else knows
// for that of an empty primary.
func Repair(text string) (repaired string, changed []string) {
	f, err := Parse(text)
	if err != nil {
		return text, nil
	}
	nodes := map[string]Node{f.Self.ID: f.Self}
	for _, p := range f.Peers {
		nodes[p.ID] = p
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			out.WriteString(line)
			continue
		}
		n := nodes[fields[0]]
		if want := shardOf(n, nodes); n.Shard != "" && want != "" && n.Shard != want {
			line = strings.ReplaceAll(line, shardField+n.Shard, shardField+want)
			changed = append(changed, n.ID)
		}
		out.WriteString(line)
	}
	return out.String(), changed
}

// shardOf is the shard of the primary at the end of the chain that n is part of; ""
// if that one is not listed, or if there is no end.
func shardOf(n Node, nodes map[string]Node) string {
	for range nodes {
		if n.Follows == "" {
			return n.Shard
		}
		n = nodes[n.Follows]
	}
	return ""
}
