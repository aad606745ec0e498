package volumerestore

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

func TestFaultABoundClaimIsCleanedUp(t *testing.T) {
	b := newBench().Deciding(CleaningUp, func(in input) fsm.Decision {
		if in.World.Claim.Sight == presence.Here {
			return fsm.Do(ReasonCleaning, DeleteClaim{in.World.Claim.UID, in.World.Claim.ResourceVersion})
		}
		return fsm.Fire(Cleaned, ReasonCleaning)
	})
	fsmtest.Caught(t, b.ExploreIn(CleaningUp), "deletes a claim that holds data")
}

// What waits for the claim would be given an empty one.
func TestFaultAReservedClaimIsCleanedUp(t *testing.T) {
	b := newBench().Deciding(CleaningUp, func(in input) fsm.Decision {
		in.World.Claim.Reserved = false
		return decideCleaningUp(in)
	})
	fsmtest.Caught(t, b.ExploreIn(CleaningUp), "whose name must stay taken")
}

func TestFaultAnyVolumeWillDo(t *testing.T) {
	b := newBench().Deciding(Restoring, func(in input) fsm.Decision {
		if in.World.Claim.Volume != "" {
			return fsm.Fire(Bound, capturev1.ReasonCompleted)
		}
		return fsm.Wait(ReasonRestoring, "claims").Because(keeping)
	})
	fsmtest.Caught(t, b.ExploreIn(Restoring), "calls a restore done that is not")
}

func TestFaultARestoreBeginsWithoutAProof(t *testing.T) {
	b := newBench().Deciding(Preparing, func(input) fsm.Decision { return fsm.Fire(Kept, ReasonKept) })
	fsmtest.Caught(t, b.ExploreIn(Preparing), "before anything proves it")
}

func TestFaultASecondRestoreOfADetachedVolume(t *testing.T) {
	b := newBench().Deciding(Pending, func(input) fsm.Decision { return fsm.Fire(Accepted, ReasonAccepted) })
	fsmtest.Caught(t, b.ExploreIn(Pending), "accepts what must be refused")
}

// The status is lost after the end, the claim was deleted by its user, and it is restored again.
func TestFaultALostStatusIsAReplay(t *testing.T) {
	b, m := newBench(), Machine
	m.Lost = nil
	b.Machine = &m
	fsmtest.Caught(t, b.ExploreIn(""), "begins again what had begun")
}

func TestFaultTheVerdictIsForgotten(t *testing.T) {
	b := newBench().Deciding(CleaningUp, func(in input) fsm.Decision {
		if in.World.Claim.empty() {
			return fsm.Do(ReasonCleaning, DeleteClaim{in.World.Claim.UID, in.World.Claim.ResourceVersion})
		}
		return fsm.Fire(Cleaned, ReasonCleaning)
	})
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World { return w }
	b.End = "Failed/DeadlineExceeded"
	fsmtest.Caught(t, b.Crash(), "ends Failed/Cleaning")
}

// Rights are looked at when the request is accepted, and not again.
func TestFaultARightThatWasTakenAwayStillCounts(t *testing.T) {
	granted := func(decide func(input) fsm.Decision) func(input) fsm.Decision {
		return func(in input) fsm.Decision {
			in.World.Rights = request.Rights{Sight: request.Granted}
			return decide(in)
		}
	}
	fsmtest.Caught(t, newBench().Deciding(Preparing, granted(decidePreparing)).ExploreIn(Preparing), "restores for somebody who may not")
	fsmtest.Caught(t, newBench().Deciding(Rehearsing, granted(decideRehearsing)).ExploreIn(Rehearsing), "runs a Job for somebody who may not")
}
