package execution

import (
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// decideExecuting finds the next step from what is saved and what is seen, wherever it was interrupted.
func decideExecuting(in input) fsm.Decision {
	switch j := in.World.Job; {
	case in.Obj.Status.ExecutionResults != nil && j.Sight != "": // a World without observations is no success
		return verify(in)
	case j.Sight == "" || j.Sight == presence.Unknown:
		return fsm.Wait(ReasonNotLooked, "children").In(lookAgain).Because("Waiting for a look at the Job of the execution.")
	case mayHaveRun(in):
		return judgeJob(in)
	}
	if e, ends := ending(in); ends {
		return withdraw(in, e)
	}
	return prepare(in)
}

// mayHaveRun says that the Job was released, or may have been: a Job whose UID was saved and that is not
// there suspended any more. One that we deleted while it was suspended did not run: it left no pod.
func mayHaveRun(in input) bool {
	j, s := in.World.Job, in.Obj.Status
	switch {
	case j.Sight == presence.Here:
		return !j.Suspended
	case j.Pods || j.Report != nil: // but not a token: whoever may write the target can put it there
		return true
	case s.Withdrawal != nil:
		return false
	case s.Plan == nil: // the status was lost, and with it whether the Job was ever released
		return in.World.Begun
	}
	return s.JobUID != ""
}

// mayBeHeld says that a gate may still keep the execution from having an effect: nothing was released,
// and nothing is being ended. A hold would stop the deletion of the Job as well.
func mayBeHeld(in input) bool {
	if in.Obj.Status.Phase != Executing {
		return true
	}
	_, ends := ending(in)
	return in.Obj.Status.ExecutionResults == nil && !mayHaveRun(in) && !ends
}

func isUnresolved(in input) (string, bool) {
	u := in.World.Target.Unresolved
	if u == nil || u.By.UID == in.Obj.UID {
		return "", false
	}
	return "Waiting for a person with the right to approve, other than " + u.Requester + ", to acknowledge the unknown outcome of " + u.By.Title() +
		", which may have changed the target: look at the target, then make an ExecutionApproval with decision Acknowledged.", mayBeHeld(in)
}

// prepare makes the Job and releases it, once everything is saved. The words of its steps are the same,
// so that none of them is a write of its own.
func prepare(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	preparing := "The state of the target is saved, and the Job is being made."
	switch {
	case s.Before == nil && (w.Look.Outcome != Planned || !w.Look.Fresh):
		return awaitLook(in)
	case s.Before == nil:
		return fsm.Save(ReasonPreparing).Because("%s", preparing)
	case !w.Begun:
		return fsm.Do(ReasonPreparing, MarkBegun{in.Obj.UID}).Because("%s", preparing)
	case w.Job.Sight == presence.Other:
		return fsm.Wait(ReasonPreparing, "children").In(gatesEvery).Because("Another object has the name of the Job %s: its owner must delete it.", JobName(in.Obj.UID))
	case w.Job.Sight == presence.Gone:
		return fsm.Do(ReasonPreparing, CreateJob{}).Because("%s", preparing)
	case s.JobUID != w.Job.UID:
		return fsm.Save(ReasonNoReturn).Because("The Job is saved before it is released.")
	}
	return release(in)
}

// release lets the Job run that is saved.
func release(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	switch {
	case mustRecord(in):
		return recordIntent(in)
	case w.Target.State != reserve.Ours: // taken when this phase was entered; lost, or never read
		return retake(in)
	case w.Look.Outcome != Planned || !w.Look.Fresh:
		return awaitLook(in)
	case !isReceived(in):
		return fsm.Save(ReasonApproved).Because("By now another decision lets the plan be carried out, which is being saved.")
	}
	return fsm.Do(ReasonReleasing, ReleaseJob{w.Job.UID, w.Job.ResourceVersion, s.Plan.Digest}).Because("The Job is being released.")
}

// retake takes the reservation of the target again. The hold has seen to it that no other has it.
func retake(in input) fsm.Decision {
	if in.World.Target.State == reserve.Free && in.World.Look.Reserves.UID != "" {
		return fsm.Do(ReasonReserving, reserve.Take{Target: in.World.Look.Reserves}).Because("The target is being reserved.")
	}
	return fsm.Wait(ReasonNotLooked, "look", reserve.Wake.Name).In(lookAgain).Because("Waiting for a look at the reservation of the target.")
}

// keepReservation is the reflex: an execution whose Job runs takes the reservation that is free. What it worked under is gone if
// the request of which it is a step was deleted, and another must not work on a target that is being written.
func keepReservation(in input) (fsm.Decision, bool) {
	j, x := in.World.Job, in.Obj
	runs := j.Sight == presence.Here && !j.Suspended && !j.Over || j.PodRuns
	if x.Status.Phase != Executing || x.Status.Reserved == nil || !runs || in.World.Target.State != reserve.Free {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonReserving, reserve.Take{Target: ReservedRef(x)}).Because("The target is being reserved again while the Job runs."), true
}

// end is why an execution ends before its Job is released.
type end struct {
	on      fsm.Event
	reason  fsm.Reason
	message string
}

// ending is why the execution must end although its Job was not released.
func ending(in input) (end, bool) {
	s := in.Obj.Status
	switch {
	case s.Plan == nil:
		return end{StatusLost, ReasonStatusLost, "The status was lost before the Job was released; nothing was done. Make another execution."}, true
	case s.Withdrawal != nil:
		return end{eventOf(s.Withdrawal.Reason), s.Withdrawal.Reason, s.Withdrawal.Message}, true
	case isCancelled(in):
		return end{Cancelled, ReasonCancelled, cancelledBy(in)}, true
	case forgottenBy(in) != "":
		return end{StatusLost, ReasonStatusLost, forgottenBy(in)}, true
	case isUnproven(in):
		return end{Withdrawn, ReasonIdentityUnproven, unprovenBy(in)}, true
	case !in.Now.Before(releaseBy(in)):
		return end{TimedOut, ReasonExecutionTimeout, "The Job was not released in time, and nothing was done: " + heldBy(in)}, true
	}
	return voided(in)
}

// voided says what of the plan and its approval does not hold any more.
func voided(in input) (end, bool) {
	l, s := in.World.Look, in.Obj.Status
	switch c := judge(in); {
	case c.rejected():
		return end{Withdrawn, ReasonRejected, c.Why + "."}, true
	case l.Token:
		return end{Withdrawn, ReasonTargetChanged, forgedWords}, true
	case l.Outcome == DryFails:
		return end{Withdrawn, ReasonTargetChanged, l.Message}, true
	case l.Outcome == Refused:
		return end{Withdrawn, l.Reason, l.Message}, true
	case l.Outcome != Planned:
		return end{}, false
	case l.Plan.Digest != s.Plan.Digest:
		return differs(l.Plan, s.Plan), true
	case needsApproval(in) && !c.approved():
		return end{Withdrawn, ReasonApprovalVoid, "The plan is not approved any more: " + lower(c.Why) + "." + setAside(in)}, true
	}
	name, _, is := unmet(in.Obj.Spec.PreConditions, preResults(l), forever)
	if is {
		return end{Withdrawn, ReasonPreconditionFailed, "The required precondition " + name + " does not hold any more."}, true
	}
	return end{}, false
}

const forgedWords = "The target bears the token of this execution, whose Job was never released: another client wrote it. Nothing was done; " +
	"find out who wrote the annotation " + remediationv1.TokenAnnotation + ", and make another execution."

func differs(is, was *remediationv1.Plan) end {
	if is.Content == was.Content {
		return end{Withdrawn, ReasonApprovalVoid, "The policy decides otherwise about the plan by now; make another execution."}
	}
	if is.Action != was.Action || is.Image != was.Image {
		return end{Withdrawn, ReasonApprovalVoid, "The action was defined anew since the plan was made; make another execution."}
	}
	return end{Withdrawn, ReasonTargetChanged, "The target has changed since the plan was made; make another execution."}
}

// eventOf is the edge of a withdrawal that was saved.
func eventOf(reason fsm.Reason) fsm.Event {
	switch reason {
	case ReasonCancelled:
		return Cancelled
	case ReasonExecutionTimeout:
		return TimedOut
	case ReasonStatusLost:
		return StatusLost
	}
	return Withdrawn
}

// withdraw ends an execution whose Job was not released: first the Job is deleted, by the version that was
// seen suspended, which no former leader can release any more; only then it ends.
func withdraw(in input, e end) fsm.Decision {
	j, s := in.World.Job, in.Obj.Status
	switch {
	case j.Sight == presence.Here && s.Withdrawal == nil: // or a Job that is gone would be one that may have run
		return fsm.Save(ReasonWithdrawing).Because("%s", e.message)
	case j.Sight == presence.Here:
		return fsm.Do(ReasonWithdrawing, DeleteJob{j.UID, j.ResourceVersion}).Because("%s", e.message)
	}
	return fsm.Fire(e.on, e.reason).Because("%s", e.message)
}
