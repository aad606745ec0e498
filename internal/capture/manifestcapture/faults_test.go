package manifestcapture

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

func TestFaultReadsWhateverMomentItIs(t *testing.T) {
	b := newBench().Deciding(Reading, func(in input) fsm.Decision {
		if in.World.Moment == "" {
			return notLooked()
		}
		return fsm.Do(ReasonReading, StartReading{in.World.Moment + "1"})
	})
	fsmtest.Caught(t, b.ExploreIn(Reading), "not saved")
}

func TestFaultWritesWithoutAKeeper(t *testing.T) {
	b := newBench().Deciding(Writing, func(in input) fsm.Decision {
		return fsm.Do(ReasonWriting, StartWriting{in.Obj.Status.ResourceVersion, in.World.Keeping.UID}).Because(writing)
	})
	fsmtest.Caught(t, b.ExploreIn(Writing), "nobody would own")
}

func TestFaultACheckpointAloneIsTakenForSuccess(t *testing.T) {
	b := newBench().Deciding(Verifying, func(in input) fsm.Decision {
		if in.World.Checkpoint.Sight == presence.Here {
			return fsm.Fire(Verified, "Completed")
		}
		return notLooked()
	})
	fsmtest.Caught(t, b.ExploreIn(Verifying), "not read back")
}

func TestFaultRemovesWhileWorkGoesOn(t *testing.T) {
	b := newBench().Deciding(CleaningUp, func(in input) fsm.Decision {
		if in.Obj.Status.Failure == nil || len(in.World.Leftovers) == 0 {
			return decideCleaningUp(in)
		}
		return fsm.Do(ReasonRemoving, Remove{in.World.Leftovers[0]}).Because(removing)
	})
	fsmtest.Caught(t, b.ExploreIn(CleaningUp), "being made")
}

// Whoever forgets its status and begins again reads and writes twice.
func TestFaultBeginsAgainAfterAmnesia(t *testing.T) {
	b, m := newBench(), Machine
	m.Lost = func(in input) (fsm.Phase, bool) { return CleaningUp, in.World.Keeping.Sight == presence.Here }
	b.Machine = &m
	b.Also = nil
	fsmtest.Caught(t, b.Amnesia(), "Failed/StatusLost")
}

// The verdict of a failed cleaning stands in place of what had failed.
func TestFaultTheReasonOfAFailureIsLost(t *testing.T) {
	b := newBench().Deciding(CleaningUp, func(in input) fsm.Decision {
		d := decideCleaningUp(in)
		if d.On == GivenUp {
			d.Reason = "GivenUp"
		}
		return d
	})
	b.Settle = nil
	b.End = "Failed/DeadlineExceeded"
	b.World = func() World { w := newBench().World(); w.Leftovers = nil; return w }
	fsmtest.Caught(t, b.Crash(), "ends Failed/GivenUp")
}

// Rights are looked at when the request is accepted, and not again.
func TestFaultARightThatWasTakenAwayStillCounts(t *testing.T) {
	b := newBench().Deciding(Preparing, func(in input) fsm.Decision {
		in.World.Rights = request.Rights{Sight: request.Granted}
		return decidePreparing(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Preparing), "somebody who may not")
}

// What a namespace keeps is not counted, nor what checkpoints hold.
func TestFaultLimitsAreForgotten(t *testing.T) {
	forget := func(decide func(input) fsm.Decision) func(input) fsm.Decision {
		return func(in input) fsm.Decision {
			in.World.Limits, in.World.Budget = request.Limits{}, Budget{}
			return decide(in)
		}
	}
	fsmtest.Caught(t, newBench().Deciding(Pending, forget(decidePending)).ExploreIn(Pending), "begins more than is allowed")
	fsmtest.Caught(t, newBench().Deciding(Preparing, forget(decidePreparing)).ExploreIn(Preparing), "reads what nothing is left for")
}
