package guard

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Slots are another's only if it claims them with a better right: with any other it gives them
// back as soon as the two meet.
func TestSlotsAreAnothersByRight(t *testing.T) {
	h := Here{Known: memory()} // in epoch 3
	for epoch, want := range map[int64]bool{2: false, 3: false, 4: true} {
		seen := []Seen{{Server: &topology.Server{ID: "a1", View: []topology.Peer{{ID: "a1", Epoch: epoch, Claim: topology.Claim{Slots: "0-99"}}}}}}
		if got := slotsTaken(h, seen); got != want {
			t.Errorf("in epoch %d: %t", epoch, got)
		}
	}
	some := []Seen{{Server: &topology.Server{ID: "a1", View: []topology.Peer{{ID: "a1", Epoch: 4, Claim: topology.Claim{Slots: "0-98"}}}}}}
	if slotsTaken(h, some) {
		t.Error("one slot is still its own")
	}
}
