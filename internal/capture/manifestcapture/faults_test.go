package manifestcapture

import (
	"maps"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// broken is the bench with one rule replaced.
func broken(phase fsm.Phase, decide func(input) fsm.Decision) bench {
	b, m := newBench(), Machine
	m.Phases = maps.Clone(m.Phases)
	rule := m.Phases[phase]
	rule.Decide = decide
	m.Phases[phase] = rule
	b.Machine = &m
	return b
}

func caught(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestFaultReadsWhateverMomentItIs(t *testing.T) {
	b := broken(Reading, func(in input) fsm.Decision {
		if in.World.Moment == "" {
			return notLooked()
		}
		return fsm.Do(ReasonReading, StartReading{in.World.Moment + "1"})
	})
	caught(t, b.ExploreIn(Reading), "not saved")
}

func TestFaultWritesWithoutAKeeper(t *testing.T) {
	b := broken(Writing, func(in input) fsm.Decision {
		return fsm.Do(ReasonWriting, StartWriting{in.Obj.Status.ResourceVersion, in.World.Keeping.UID})
	})
	caught(t, b.ExploreIn(Writing), "nobody would own")
}

func TestFaultACheckpointAloneIsTakenForSuccess(t *testing.T) {
	b := broken(Verifying, func(in input) fsm.Decision {
		if in.World.Checkpoint.Sight == request.Ours {
			return fsm.Fire(Verified, "Completed")
		}
		return notLooked()
	})
	caught(t, b.ExploreIn(Verifying), "not read back")
}

func TestFaultRemovesWhileWorkGoesOn(t *testing.T) {
	b := broken(CleaningUp, func(in input) fsm.Decision {
		if in.Obj.Status.Failure == nil || len(in.World.Leftovers) == 0 {
			return decideCleaningUp(in)
		}
		return fsm.Do(ReasonRemoving, Remove{in.World.Leftovers[0]})
	})
	caught(t, b.ExploreIn(CleaningUp), "being made")
}

// Whoever forgets its status and begins again reads and writes twice.
func TestFaultBeginsAgainAfterAmnesia(t *testing.T) {
	b, m := newBench(), Machine
	m.Lost = func(in input) (fsm.Phase, bool) { return CleaningUp, in.World.Keeping.Sight == request.Ours }
	b.Machine = &m
	b.Also = nil
	caught(t, b.Amnesia(), "Failed/StatusLost")
}

// The verdict of a failed cleaning stands in place of what had failed.
func TestFaultTheReasonOfAFailureIsLost(t *testing.T) {
	b, m := newBench(), Machine
	m.Conditions = nil
	b.Machine = &m
	b.Settle = nil
	b.End = "Failed/DeadlineExceeded"
	b.World = func() World { w := newBench().World(); w.Leftovers = nil; return w }
	caught(t, b.Crash(), "ends Failed/GivenUp")
}
