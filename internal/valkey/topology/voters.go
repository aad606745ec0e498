package topology

import (
	"fmt"
	"slices"
	"time"
)

// Voters are the nodes whose servers own slots by their own words.
func (n Nodes) Voters() Nodes {
	return slices.DeleteFunc(n.answering(), func(m Node) bool {
		return m.Server.Self().Follows != "" || m.Server.Self().Slots == ""
	})
}

// Owners are those that some server sees as owners of slots.
func (n Nodes) Owners() map[string]bool {
	owners := map[string]bool{}
	for _, m := range n.answering() {
		for _, p := range m.Server.View {
			if p.Slots != "" {
				owners[p.ID] = true
			}
		}
	}
	return owners
}

// Quorum says that a majority of the owners answer as such. If not, doubt says so in words.
func (n Nodes) Quorum() (doubt string, quorum bool) {
	answer, owners := len(n.Voters()), len(n.Owners())
	if answer*2 <= owners || answer == 0 {
		return fmt.Sprintf("%d of %d primaries with slots answer, which is no majority", answer, owners), false
	}
	return "", true
}

// Spacing is how long to wait between two failovers of a shard, and after one that
// came to nothing.
//
// Servers older than 8.1 vote once per shard in twice their timeout even if asked by
// an operator; a try within that time pauses writes, fails, and dooms the next.
func (n Nodes) Spacing() (afterSuccess, afterFailure time.Duration) {
	for _, v := range n.Voters() {
		if Older(v.Server.Version, "8.1") {
			timeout := time.Duration(v.Server.Timeout) * time.Millisecond
			afterSuccess = max(afterSuccess, 2*timeout+time.Second)
			afterFailure = max(afterFailure, 4*timeout)
		}
	}
	return afterSuccess, max(afterFailure, afterSuccess)
}
