package restorer

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// TestWhatTheWorldAsksFor holds single facts to what they mean.
func TestWhatTheWorldAsksFor(t *testing.T) {
	ours := Claim{Sight: presence.Here, UID: "claim", ResourceVersion: "1"}
	stored := Stored{Sight: presence.Here, Intent: intent(), UID: "intent", ResourceVersion: "1"}
	bound := ours
	bound.Bound = true
	anew := ours
	anew.UID = "another"
	reserved := ours
	reserved.Reserved = true
	for what, c := range map[string]struct {
		world World
		want  fsm.Phase
	}{
		"an intent for this claim":            {World{Request: Wanted, Claim: ours, Intent: stored, PV: PV{Sight: NoPV}}, Provisioning},
		"an intent for a claim that was":      {World{Request: Wanted, Claim: anew, Intent: stored, PV: PV{Sight: NoPV}}, Discarding},
		"an empty claim that was given up":    {World{Request: GivenUp, Claim: ours, Intent: Stored{Sight: presence.Gone}, PV: PV{Sight: NoPV}}, Discarding},
		"a claim with data that was given up": {World{Request: GivenUp, Claim: bound, Intent: Stored{Sight: presence.Gone}, PV: PV{Sight: Strange}}, Idle},
		"one that something waits for":        {World{Request: GivenUp, Claim: reserved, Intent: Stored{Sight: presence.Gone}, PV: PV{Sight: NoPV}}, Idle},
		"the same, and the request is gone":   {World{Request: Gone, Claim: reserved, Intent: Stored{Sight: presence.Gone}, PV: PV{Sight: NoPV}}, Idle},
		"a volume that was not looked at":     {World{Request: Wanted, Claim: ours, Intent: stored}, ""},
	} {
		if got := c.world.aim(); got != c.want {
			t.Errorf("%s asks for %q, want %q", what, got, c.want)
		}
	}
}
