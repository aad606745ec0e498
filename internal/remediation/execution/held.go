package execution

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/approval"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// releaseGates keep an execution from being released. Each gate stands before executing, and keeps a suspended Job suspended. Once the
// Job is released none applies: it would keep the result from being read.
var releaseGates = []fsm.Hold[input]{
	gate(ReasonPoliciesMissing, "gates", func(in input) (string, bool) { return in.World.Gates.Policies, in.World.Gates.Policies != "" }),
	gate(ReasonWrongIdentity, "gates", func(in input) (string, bool) { return in.World.Gates.Identity, in.World.Gates.Identity != "" }),
	gate(ReasonSuspended, "gates", func(in input) (string, bool) { return in.World.Gates.Suspended, in.World.Gates.Suspended != "" }),
	gate(ReasonAuditUnavailable, "gates", func(in input) (string, bool) { return in.World.Gates.Audit, in.World.Gates.Audit != "" }),
	gate(ReasonAwaitingRequest, "parent", awaitsRequest),
	gate(ReasonStorm, "gates", func(in input) (string, bool) { return in.World.Brakes.Storm.At(in.Now) }),
	gate(ReasonRateLimited, "gates", func(in input) (string, bool) { return in.World.Brakes.Rate.At(in.Now) }),
	gate(ReasonCoolingDown, "gates", func(in input) (string, bool) { return in.World.Brakes.Cooldown.At(in.Now) }),
	{Reason: ReasonUnresolved, In: []fsm.Phase{Executing}, When: isUnresolved, Wake: reserve.Wake.Name, ClockRuns: true},
	gate(ReasonReservedByOther, reserve.Wake.Name, func(in input) (string, bool) { return in.World.Target.Held("the target") }),
}

// gatesEvery is how soon a gate is looked at again: no event tells that it has opened.
const gatesEvery = 5 * time.Second

// gate is a hold that keeps executions from being released.
func gate(reason fsm.Reason, wake string, closed func(input) (string, bool)) fsm.Hold[input] {
	return fsm.Hold[input]{Reason: reason, In: []fsm.Phase{Executing}, Wake: wake, ClockRuns: true,
		When: func(in input) (string, bool) {
			message, is := closed(in)
			return message, is && mayBeHeld(in)
		}}
}

// heldNow says in words what would keep the execution from being carried out at this moment; "" is nothing.
func heldNow(in input) string {
	for _, h := range releaseGates {
		if message, is := h.When(in); is {
			return message
		}
	}
	return ""
}

// isHeldTooLong says that the time for an approval is over, and that the execution was approved in time but is held. What was
// approved long ago is not to begin when a brake is lifted.
func isHeldTooLong(in input) bool {
	by := in.Obj.Status.ApprovalBy
	return by != nil && !in.Now.Before(by.Time) && heldNow(in) != ""
}

// saysHeldTooLong says what an approved execution was held by until the time for an approval was over.
func saysHeldTooLong(in input, c consent) string {
	return fmt.Sprintf("%s, but it was held until the %ds in which it may be approved and begin were over: %s "+
		"Make another execution once nothing holds it, and have it approved.", c.Why, in.Obj.Spec.ApprovalTimeoutSeconds, heldNow(in))
}

// notApproved says why an execution without an approval is given up. One that was approved says so, and what it was held by: a person
// who is told that no person approved looks in the wrong place.
func notApproved(in input, c consent) string {
	within := in.Obj.Spec.ApprovalTimeoutSeconds
	if missing := in.World.Gates.Policies; missing != "" {
		return fmt.Sprintf("No approval could count when the %ds for it were over: %s Make another execution once that is done, and have it approved.", within, missing)
	}
	if c.State != approval.Expired {
		return fmt.Sprintf("No person approved the plan within %ds; make another execution.", within)
	}
	held := "Make another execution, and have it approved."
	switch now := heldNow(in); {
	case now != "":
		held = "It is held: " + now + " Make another execution once nothing holds it, and have it approved."
	case in.Obj.Status.StartBy != nil: // an approved execution was held
		held = "It was held while it was approved. " + held
	}
	return fmt.Sprintf("%s, before the plan could be carried out, and no person approved it again within %ds. %s", c.Why, within, held)
}
