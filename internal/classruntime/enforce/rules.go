package enforce

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Rules are those of lanes in a machine. ask makes the input of a lane, apply the effect that writes a number, and wakes
// are what tells of another recommendation.
//
// Whoever uses them keeps Input.Next of every lane in its status, and Lane.Took once apply has succeeded.
func Rules[I any](ask func(I) Input, apply func(I, int32) fsm.Effect, wakes ...string) fsm.Rules[I] {
	decide := func(i I) fsm.Decision {
		in := ask(i)
		d := Decide(in)
		switch {
		case d.Phase != in.Phase:
			return in.move(d)
		case d.Apply:
			return fsm.Do(d.Reason, apply(i, d.To)).Because("%s", d.Message)
		}
		return fsm.Wait(d.Reason, wakes...).In(d.After).Because("%s", d.Message)
	}
	taken := map[fsm.ErrorClass]fsm.Event{fsm.Contested: Conflicted}
	return fsm.Rules[I]{
		Start: Steady,
		Phases: map[fsm.Phase]fsm.Rule[I]{
			Steady: {
				Doc: "What is applied is what is recommended, or nothing is recommended that may be followed.", Class: fsm.Steady, Decide: decide,
				On: map[fsm.Event]fsm.Phase{MoreWanted: Rising, FewerWanted: Falling, CoolingDown: Cooling, Conflicted: Yielded},
			},
			Rising: {
				Doc: "More replicas are recommended; they are applied once that has lasted.", Class: fsm.Working, Decide: decide, Fail: taken,
				On: map[fsm.Event]fsm.Phase{
					Applied: Steady, StepApplied: Cooling, CoolingDown: Cooling, NoneWanted: Steady, FewerWanted: Falling, Conflicted: Yielded,
				},
			},
			Falling: {
				Doc: "Fewer replicas are recommended; they are applied once that has lasted.", Class: fsm.Working, Decide: decide, Fail: taken,
				On: map[fsm.Event]fsm.Phase{
					Applied: Steady, StepApplied: Cooling, CoolingDown: Cooling, NoneWanted: Steady, MoreWanted: Rising, Conflicted: Yielded,
				},
			},
			Cooling: {
				Doc: "Another change is wanted, too soon after the last.", Class: fsm.Working, Decide: decide,
				On: map[fsm.Event]fsm.Phase{MoreWanted: Rising, FewerWanted: Falling, NoneWanted: Steady, Conflicted: Yielded},
			},
			Yielded: {
				Doc: "Another owner has taken the number of replicas; the lane leaves it alone until a person takes it back.", Class: fsm.Degraded, Decide: decide,
				On: map[fsm.Event]fsm.Phase{Retaken: Steady},
			},
		},
	}
}

// move leads to the phase of a decision. What was applied in the phase that is left is told by that move.
func (in Input) move(d Decision) fsm.Decision {
	on := map[fsm.Phase]fsm.Event{Steady: NoneWanted, Rising: MoreWanted, Falling: FewerWanted, Cooling: CoolingDown, Yielded: Conflicted}[d.Phase]
	applied := (in.Phase == Rising || in.Phase == Falling) && !in.Lane.AppliedAt.IsZero() && !in.Lane.AppliedAt.Before(in.Entered)
	said := fmt.Sprintf("Replicas were changed from %d to %d. %s", in.Lane.Previous, in.Lane.Applied, d.Message)
	switch {
	case in.Phase == Yielded:
		return fsm.Fire(Retaken, ReasonRetaken).Because("The number of replicas may be written again.")
	case applied && d.Phase == Steady:
		return fsm.Fire(Applied, ReasonApplied).Because("%s", said)
	case applied && d.Phase == Cooling:
		return fsm.Fire(StepApplied, ReasonApplied).Because("%s", said)
	}
	return fsm.Fire(on, d.Reason).Because("%s", d.Message)
}
