package cluster

import (
	"slices"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A newcomer meets everyone who owns slots at once: clients that ask it before it has heard of an owner would find
// nobody for its slots.
func TestANewcomerMeetsEveryOwner(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	for i, n := range w.Nodes {
		if n.Server.Self().Slots != "" {
			continue
		}
		nodes := slices.Clone(w.Nodes)
		nodes[i].Server = &topology.Server{ID: "new", Empty: true, View: []topology.Peer{{ID: "new"}}}
		to := membersToMeet(nodes, i)
		for _, owner := range nodes.Voters() {
			if !slices.Contains(to, memberOf(owner)) {
				t.Errorf("in the place of %s: it does not meet %s", n.Name, owner.Name)
			}
		}
	}
}
