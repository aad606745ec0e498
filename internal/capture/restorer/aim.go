package restorer

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// aim is what the World asks for. Every phase asks it again, so nothing need be remembered.
func (w World) aim() fsm.Phase {
	switch {
	case !w.looked():
		return ""
	case w.Intent.Sight == presence.Here && w.abandoned():
		return Discarding
	case w.Intent.Sight == presence.Here:
		return Provisioning
	case w.moved():
		return Moving
	case w.leftover():
		return Discarding
	case w.settled():
		return Idle
	case w.Moves && w.Claim.Sight == presence.Here:
		return Moving
	}
	return Claiming
}

// leftover says that the claim was made for nothing, and nothing waits for it.
func (w World) leftover() bool {
	return w.givenUp() && w.Claim.empty() && !w.Claim.Reserved && w.PV.Sight != ForUs && !w.copied()
}

// copied says that the claim may be one that somebody made from the text of one of ours, for a
// volume of that: it bears the same names. As long as the request is there it says what it made.
func (w World) copied() bool {
	return w.Request == Gone && w.PV.Sight != NoPV && !w.PV.Parked
}

// moved says that a volume was moved and bound, and is not yet like any other.
func (w World) moved() bool {
	return w.PV.Sight == ForUs && w.PV.Marked && w.Claim.Bound && !w.Claim.Deleting
}

// settled says that nothing is left to be made: nobody asks for it, somebody is in the way,
// or it is there.
func (w World) settled() bool {
	return w.Request != Wanted || w.Claim.Sight == presence.Other || w.Claim.Deleting || w.PV.Sight == ForUs
}

// looked says that all was read that a decision rests on: what was not read is not absent.
func (w World) looked() bool {
	return w.Request != "" && w.Claim.Sight != "" && w.Intent.Sight != "" && w.PV.Sight != ""
}

func (w World) givenUp() bool { return w.Request == GivenUp || w.Request == Gone }

// abandoned says that nobody waits for what was intended: the request was given up, or the
// claim is not the one that it was intended for.
func (w World) abandoned() bool {
	return w.givenUp() || w.Claim.Sight != presence.Here || w.Claim.Deleting || w.Claim.UID != w.Intent.Intent.Claim.UID
}

// empty says that no data would go with the claim.
func (c Claim) empty() bool { return c.Sight == presence.Here && !c.Bound && !c.Deleting }

// turned leaves a phase that the World does not ask for.
func turned(in input) (fsm.Decision, bool) {
	switch aim := in.World.aim(); aim {
	case in.Obj.Status.Phase:
		return fsm.Decision{}, false
	case "":
		return notLooked("requests", "the request and its claim"), true
	case Idle:
		return fsm.Fire(Turned, ReasonNothingToDo).Because(idle), true
	}
	return fsm.Fire(Turned, ReasonTurned), true
}

const idle = "The restorer has nothing to do for the request."

func decideIdle(in input) fsm.Decision {
	w := in.World
	switch w.aim() {
	case Claiming:
		return fsm.Fire(ToClaim, ReasonNoClaim).Because(makingClaim)
	case Provisioning:
		return fsm.Fire(ToProvision, ReasonAsking).Because(asking, w.Intent.Intent.Plan.Name)
	case Moving:
		return fsm.Fire(ToMove, ReasonMoving).Because(handing, w.PV.Name)
	case Discarding:
		return fsm.Fire(ToDiscard, ReasonAbandoned).Because(discarding)
	}
	if w.Request != Wanted { // and a watch tells when that changes
		return fsm.Wait(ReasonNothingToDo, "requests").Because(idle)
	}
	return fsm.Wait(ReasonNothingToDo, "requests").In(recheck).Because(idle)
}
