package execution

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// cancelledBy says who ended the execution before it had an effect; "" is that it was not cancelled. A step ends with its
// request: what the request goes on to, or ends with, must not be overtaken by a step that it gave up.
func cancelledBy(in input) string {
	switch {
	case in.Obj.Spec.Cancel:
		return "The execution was cancelled before its Job was released; nothing was done."
	case in.Obj.DeletionTimestamp != nil: // one with dependents may stay for long, and nothing must come of it
		return "The execution was deleted before its Job was released; nothing was done."
	}
	ref, p := in.Obj.Spec.Parent, in.World.Parent
	switch {
	case ref == nil:
		return ""
	case p.Sight == presence.Gone, p.Sight == presence.Other:
		return "RemediationRequest " + ref.Name + ", of which the execution is a step, does not exist any more; nothing was done."
	case p.Over:
		return "RemediationRequest " + ref.Name + ", of which the execution is a step, has ended; nothing was done."
	case p.Deleted: // its collector may leave the execution alone until another one is gone
		return "RemediationRequest " + ref.Name + ", of which the execution is a step, was deleted; nothing was done."
	case p.Cancelled && !ref.Undo: // taking a step back is what a request that was cancelled may still do
		return "RemediationRequest " + ref.Name + ", of which the execution is a step, was cancelled; nothing was done."
	}
	return ""
}

// forgottenBy says that the request of which the execution is a step has lost its status; "" is that it has not. It begins no step
// any more and waits for those that it made, so one that has had no effect ends.
func forgottenBy(in input) string {
	ref, p := in.Obj.Spec.Parent, in.World.Parent
	if ref == nil || p.Sight != presence.Here || !p.Forgot {
		return ""
	}
	return "The status of RemediationRequest " + ref.Name + ", of which the execution is a step, was lost, so that no step of it begins any more; nothing was done. " +
		"Look at the other executions of the request, and make another request."
}

// unlessForgotten is what a phase before executing decides: a step of a request that lost its status ends.
func unlessForgotten(decide func(input) fsm.Decision) func(input) fsm.Decision {
	return func(in input) fsm.Decision {
		if message := forgottenBy(in); message != "" {
			return fsm.Fire(StatusLost, ReasonStatusLost).Because("%s", message)
		}
		return decide(in)
	}
}

// unprovenBy says why the execution may be of another user than it says; "" is that it is not. A step is the manager's, and has
// the requester of its request: so it must say what the request says, in every field.
func unprovenBy(in input) string {
	ref, p := in.Obj.Spec.Parent, in.World.Parent
	switch {
	case ref != nil && p.Sight == presence.Here && !p.Agrees && !p.Forgot:
		return "RemediationRequest " + ref.Name + " does not ask for this execution: step " + ref.Step + " of it says something else. Nothing was done; " +
			"the platform team finds out who made the execution, and in which version the manager runs."
	case in.World.Begun && in.Obj.Status.Before != nil: // not the mark alone: users can write that while the policies are missing
		return ""
	}
	return in.World.Unproven
}

// isCancelled and isUnproven are guards: they end an execution before executing.
func isCancelled(in input) bool { return cancelledBy(in) != "" }
func isUnproven(in input) bool  { return unprovenBy(in) != "" }

// awaitsRequest holds a step until its request has saved that it is this very execution that carries it out: a step whose
// execution was deleted before that is made anew, so nothing may have been done by then.
func awaitsRequest(in input) (message string, is bool) {
	ref, p := in.Obj.Spec.Parent, in.World.Parent
	if ref == nil || p.Sight == presence.Here && p.Named {
		return "", false
	}
	return "Waiting for the manager to save in RemediationRequest " + ref.Name + " that this execution carries out step " + ref.Step + ".", true
}

// awaitRequest keeps an execution that is done in rollback_ready while its request may take it back.
func awaitRequest(in input) (d fsm.Decision, waits bool) {
	ref, p := in.Obj.Spec.Parent, in.World.Parent
	switch {
	case ref == nil, p.Sight == presence.Gone, p.Sight == presence.Other:
		return d, false
	case p.Sight != presence.Here:
		return fsm.Wait(ReasonNotLooked, "parent").In(lookAgain).Because("Waiting for a look at RemediationRequest %s, of which the execution is a step.", ref.Name), true
	case !p.Over:
		return fsm.Wait(ReasonExecuted, "parent", "executions").Because("%s", doneWords(in)), true
	}
	return d, false
}

// isFinal says that the time for taking the action back is over: by the clock, or with the request of which it was a step.
func isFinal(in input) bool {
	return in.Obj.Spec.Parent != nil && in.World.Parent.Over || !in.Now.Before(finalAt(in))
}
