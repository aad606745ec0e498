package class

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// The sums of a Deployment say that all is well, and its pods do not.
func TestFaultReadyByTheSumAlone(t *testing.T) {
	b := newBench().Deciding(Progressing, func(in input) fsm.Decision {
		for _, f := range in.World.Functions {
			if f.Rollout.Available < f.Rollout.Desired {
				return decideProgressing(in)
			}
		}
		return fsm.Fire(BecameReady, ReasonAvailable)
	})
	fsmtest.Caught(t, b.Explore(), "becomes available while a function is not ready")
}

func TestFaultReadyForEver(t *testing.T) {
	b := newBench().Deciding(Available, func(input) fsm.Decision {
		return fsm.Wait(ReasonAvailable, "pods").Because("Every function of the class is ready.")
	})
	fsmtest.Caught(t, b.Explore(), "stays available while a function has lost its replicas")
}

func TestFaultRetriesWhilePaused(t *testing.T) {
	b := newBench().Deciding(Degraded, func(in input) fsm.Decision {
		if d, is := retry(in); is {
			return d
		}
		return decideDegraded(in)
	})
	fsmtest.Caught(t, b.Explore(), "while it is paused")
}

// What was refused is tried from the beginning.
func TestFaultPendingFindsNothing(t *testing.T) {
	b := newBench().Deciding(Pending, func(in input) fsm.Decision {
		if in.World.Looked && behind(in) {
			return fsm.Fire(Began, ReasonApplying)
		}
		return notLooked()
	})
	fsmtest.Caught(t, b.Amnesia(), "ends pending, not available")
}

func TestFaultClockInTheMessage(t *testing.T) {
	b := newBench().Deciding(Available, func(in input) fsm.Decision {
		return fsm.Wait(ReasonAvailable, "pods").Because("All was well at %s.", in.Now)
	})
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}

// Ours is made although another owner has an autoscaler of the function.
func TestFaultTwoAutoscalers(t *testing.T) {
	b := newBench().Deciding(Applying, func(in input) fsm.Decision {
		for _, f := range in.World.Functions {
			for _, c := range f.Children {
				if c.UID == "" && !c.Foreign && c.Going == "" {
					return fsm.Do(ReasonApplying, Apply{[]Target{{Function: f.Key, Ref: c.Ref}}}).Because("The manager applies all.")
				}
			}
		}
		return decideApplying(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Applying), "beside another")
}

// The pause of a fight is forgotten.
func TestFaultFightsOn(t *testing.T) {
	b := newBench().Deciding(Applying, func(in input) fsm.Decision {
		in.Obj = in.Obj.DeepCopy()
		in.Obj.Status.Contested = nil
		return decideApplying(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Applying), "left alone")
}

// A person's number is taken back by every pass.
func TestFaultRetakesUnasked(t *testing.T) {
	b := newBench().Deciding(Applying, func(in input) fsm.Decision {
		d := decideApplying(in)
		for i, e := range d.Do {
			if a, is := e.(Apply); is {
				for j := range a.Children {
					a.Children[j].Retake = true
				}
				d.Do[i] = a
			}
		}
		return d
	})
	fsmtest.Caught(t, b.ExploreIn(Applying), "unasked")
}
