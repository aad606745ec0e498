package topology

import (
	"strings"
	"testing"
)

// What a replica has of another primary says nothing of its own, whatever the numbers.
func TestAReplicaOfAnotherTrails(t *testing.T) {
	n := shards(3)
	if doubt := n[1].Server.Trails(n[0].Server, 0); doubt != "" {
		t.Fatal(doubt)
	}
	n[1].Server.View[1].Follows = n[2].Server.ID
	if doubt := n[1].Server.Trails(n[0].Server, 0); !strings.Contains(doubt, "does not follow") {
		t.Errorf("%q", doubt)
	}
}
