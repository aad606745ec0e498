package restorer

import (
	"maps"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

func broken(t *testing.T, phase fsm.Phase, decide func(input) fsm.Decision) {
	t.Helper()
	was := Machine
	Machine.Phases = maps.Clone(was.Phases)
	rule := Machine.Phases[phase]
	rule.Decide = decide
	Machine.Phases[phase] = rule
	t.Cleanup(func() { Machine = was })
}

func struck(what string, after int, f fault, at int) error {
	return newRun(what, after, f, at).toTheEnd(what)
}

// The intent goes before the PersistentVolume is there.
func TestFaultTheIntentGoesTooEarly(t *testing.T) {
	broken(t, Provisioning, func(in input) fsm.Decision {
		if d, is := turned(in); is {
			return d
		}
		if in.Obj.Status.Volume != nil {
			return fsm.Do(ReasonPublishing, RemoveIntent{in.World.Intent.UID, "1"}, CreatePV{*in.World.Intent.Intent, *in.Obj.Status.Volume})
		}
		return fsm.Do(ReasonAsking, CreateVolume{*in.World.Intent.Intent})
	})
	fsmtest.Caught(t, struck("nothing", 0, none, 0), "forgets a volume that nobody owns")
}

// Only the volume that it remembers is deleted: after a restart it remembers none.
func TestFaultDiscardsFromMemory(t *testing.T) {
	broken(t, Discarding, func(in input) fsm.Decision {
		if d, is := turned(in); is {
			return d
		}
		if in.World.Intent.Sight == presence.Here {
			return fsm.Do(ReasonAbandoned, RemoveIntent{in.World.Intent.UID, "1"})
		}
		return fsm.Do(ReasonAbandoned, DeleteClaim{UID: in.World.Claim.UID})
	})
	fsmtest.Caught(t, struck("the request is deleted", 3, lostAnswer, 3), "forgets a volume that nobody owns")
}

// A volume is deleted although a PersistentVolume owns it.
func TestFaultDiscardsWhatIsOwned(t *testing.T) {
	broken(t, Discarding, func(in input) fsm.Decision {
		if d, is := turned(in); is {
			return d
		}
		if in.World.Intent.Sight == presence.Here {
			return fsm.Do(ReasonAbandoned, DiscardVolume{*in.World.Intent.Intent}, RemoveIntent{in.World.Intent.UID, "1"})
		}
		return fsm.Do(ReasonAbandoned, DeleteClaim{UID: in.World.Claim.UID})
	})
	fsmtest.Caught(t, struck("the request is deleted", 4, none, 0), "deletes a volume that somebody owns")
}

// What waits for the claim would be given an empty one.
func TestFaultAReservedClaimIsDeleted(t *testing.T) {
	broken(t, Idle, func(in input) fsm.Decision {
		in.World.Claim.Reserved = false
		return decideIdle(in)
	})
	broken(t, Discarding, func(in input) fsm.Decision {
		return now(ReasonAbandoned, DeleteClaim{UID: in.World.Claim.UID})
	})
	r := newRun("the request is deleted", 1, none, 0)
	r.world.Claim.Reserved = true
	fsmtest.Caught(t, r.toTheEnd("the request is deleted"), "whose name must stay taken")
}

// No intent at all.
func TestFaultNoIntent(t *testing.T) {
	broken(t, Claiming, func(in input) fsm.Decision {
		if in.World.Claim.Sight == presence.Gone {
			return fsm.Do(ReasonNoClaim, CreateClaim{})
		}
		return fsm.Do(ReasonAsking, CreateVolume{*in.World.Intent.Draft})
	})
	fsmtest.Caught(t, struck("nothing", 0, none, 0), "that nothing reminds of")
}
