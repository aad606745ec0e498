package nodesconf

import (
	"strings"
	"testing"
)

var (
	idA, idB, idC = strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	shardA        = ",,shard-id=" + strings.Repeat("1", 40)
	inherited     = idA + " 10.0.0.1:1@2" + shardA + " myself,master - 0 0 5 connected 0-99 200 [7->-" + idC + "]\n" +
		idB + " 10.0.0.2:1@2" + shardA + " slave,fail? " + idA + " 0 0 5 connected\n" +
		idC + " 10.0.0.3:1@2 master - 0 0 2 connected 100-199\nvars currentEpoch 5 lastVoteEpoch 0\n"
)

// A server becomes the replica of its new primary, which gets what it had; nothing else is changed.
func TestFollow(t *testing.T) {
	want := idA + " 10.0.0.1:1@2" + shardA + " myself,slave " + idB + " 0 0 6 connected\n" +
		idB + " 10.0.0.2:1@2" + shardA + " master,fail? - 0 0 6 connected 0-99 200\n" +
		idC + " 10.0.0.3:1@2 master - 0 0 2 connected 100-199\nvars currentEpoch 5 lastVoteEpoch 0\n"
	if got, done := Follow(inherited, idB, 6); !done || got != want {
		t.Errorf("%v\n%s", done, got)
	}
	if _, again := Follow(want, idB, 6); again {
		t.Error("a replica is made a replica")
	}
	for _, other := range []string{idA, idC, strings.Repeat("d", 40)} {
		if got, done := Follow(inherited, other, 6); done || got != inherited {
			t.Errorf("it follows %.1s, which was not its replica", other)
		}
	}
}
