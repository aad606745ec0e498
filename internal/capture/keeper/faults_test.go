package keeper

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Pending only knows how to find a living object.
func TestFaultPhaseNotRederivable(t *testing.T) {
	b := bench().Deciding(Pending, func(in input) fsm.Decision {
		if in.World.Followed == presence.Here {
			return fsm.Fire(Found, ReasonFollowing)
		}
		return fsm.Wait(ReasonNotLooked, "followed")
	})
	fsmtest.Caught(t, b.Amnesia(), "ends Pending, not gone")
}

func TestFaultClockInTheMessage(t *testing.T) {
	b := bench().Deciding(Tracking, func(in input) fsm.Decision {
		return fsm.Wait(ReasonFollowing, "followed").Because("looked at %s", in.Now)
	})
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}

// The cache says it is gone.
func TestFaultDeleteOnTheWordOfTheCache(t *testing.T) {
	b := bench().Deciding(Expiring, func(in input) fsm.Decision {
		return fsm.Do(ReasonTimeOver, DeleteKeeper{in.Obj.UID, in.Obj.ResourceVersion})
	})
	fsmtest.Caught(t, b.Explore(), "deletes backups on a guess")
}
