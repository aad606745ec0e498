package pool

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// The list of pods was read before the entry was made.
func TestFaultAnOrphanIsRemovedAtFirstSight(t *testing.T) {
	b := newBench().Deciding(Serving, func(in input) fsm.Decision {
		in.World.Orphans = append([]Orphan(nil), in.World.Orphans...)
		for i := range in.World.Orphans {
			in.World.Orphans[i].Looks, in.World.Orphans[i].Since = looks, 0
		}
		return decideServing(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Serving), "looked at once")
}

func TestFaultOrphansOfARestoredServerAreRemoved(t *testing.T) {
	b := newBench().Deciding(Serving, func(in input) fsm.Decision {
		in.World.Entries = 1000
		return decideServing(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Serving), "without a person")
}

func TestFaultServesBeforeThePodsAreListed(t *testing.T) {
	b := newBench().Deciding(Surveying, func(in input) fsm.Decision {
		if in.World.Survey.Complete {
			return fsm.Fire(Surveyed, ReasonServing)
		}
		return decideSurveying(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Surveying), "serves what it has not read")
}

func TestFaultGoesWithALeftover(t *testing.T) {
	b := newBench().Deciding(Draining, func(in input) fsm.Decision {
		in.World.Marked, in.World.Entries, in.World.Orphans = nil, 0, nil
		return decideDraining(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Draining), "something of it is left")
}

func TestFaultBlindToOneLostAnswer(t *testing.T) {
	b := newBench().Deciding(Serving, func(in input) fsm.Decision {
		if in.World.Access.State == Denied {
			return fsm.Fire(Lost, ReasonUnreachable).Because("It does not answer.")
		}
		return decideServing(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Serving), "is blind although")
}

func TestFaultTheClockInTheMessage(t *testing.T) {
	b := newBench().Deciding(Serving, func(in input) fsm.Decision {
		return fsm.Wait(ReasonServing, "sweep").Because("All was well at %s.", in.Now)
	})
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}
