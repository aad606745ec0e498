package execution

import "github.com/statecraft-dev/statecraft/internal/fsm"

func decideValidating(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	switch {
	case w.Checks == Invalid:
		return fsm.Fire(Refused, ReasonInvalid)
	case w.Checks == DryRunFailed:
		return fsm.Fire(Refused, ReasonDryRunFailed)
	case w.Checks == "" || w.Digest == "":
		return fsm.Wait(ReasonNotLooked, "target", "policy").In(look).Because("Waiting for a look at the target.")
	case s.PlanDigest != w.Digest && s.Plans >= maxPlans:
		return fsm.Fire(Refused, ReasonPlanUnstable)
	case s.PlanDigest != w.Digest:
		return fsm.Save(ReasonPlanned).Because("The plan is saved.")
	}
	return fsm.Fire(Passed, ReasonValid)
}

func decideValidated(in input) fsm.Decision {
	if in.World.NeedsApproval {
		return fsm.Fire(ApprovalRequired, ReasonPolicy)
	}
	return reserved(in, fsm.Fire(Clear, ReasonValid))
}

func decideWaitingApproval(in input) fsm.Decision {
	a := in.World.Approval
	switch {
	case in.World.Digest == "":
		return fsm.Wait(ReasonNotLooked, "target").In(look).Because("Waiting for a look at the target.")
	case a != nil && a.Rejected:
		return fsm.Fire(Rejected, ReasonRejected)
	case in.World.Digest != in.Obj.Status.PlanDigest:
		return fsm.Fire(PlanChanged, ReasonPlanChanged)
	case a == nil:
		return fsm.Wait(ReasonAwaitApproval, "approvals").Because("Waiting for a person to approve plan %s.", in.Obj.Status.PlanDigest)
	case a.Digest != in.Obj.Status.PlanDigest, !in.Now.Before(a.Expires):
		return fsm.Wait(ReasonApprovalVoid, "approvals").Because("Waiting for a person to approve plan %s.", in.Obj.Status.PlanDigest)
	}
	return reserved(in, fsm.Fire(Approved, ReasonApproved))
}

// reserved takes the reservation if it is free. If another holds it, the hold on
// executing stops next.
func reserved(in input, next fsm.Decision) fsm.Decision {
	if in.World.Holder == "" {
		return fsm.Do(ReasonReserving, Reserve{string(in.Obj.UID)}).Because("The target is reserved.")
	}
	return next
}

// decideExecuting is at most once: before-state saved, Job made suspended, its
// UID saved, last check, release. Wherever it is interrupted, what is saved and
// what is seen tell which step is next.
func decideExecuting(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	switch verdict, ended := w.verdict(); {
	case verdict == Applied:
		return fsm.Fire(Succeeded, ReasonApplied)
	case verdict == NotApplied:
		return fsm.Fire(ActionFailed, ReasonActionFailed)
	case ended, s.JobUID != "" && (w.Job == nil || w.Job.UID != s.JobUID):
		return fsm.Fire(OutcomeUnknown, ReasonUnknown)
	case w.Job != nil && s.JobUID == "":
		return fsm.Save(ReasonNoReturn).Because("The Job is saved before it runs.")
	case w.Job != nil && !w.Job.Suspended:
		return fsm.Wait(ReasonRunning, "jobs").Because("Waiting for the Job to end.")
	}
	return prepare(in)
}

// prepare makes the Job and lets it run, once everything is saved.
func prepare(in input) fsm.Decision {
	w, s := in.World, in.Obj.Status
	switch {
	case w.Digest == "" || w.Footprint == "":
		return fsm.Wait(ReasonNotLooked, "target").In(look).Because("Waiting for a look at the target.")
	case w.Digest != s.PlanDigest:
		return fsm.Fire(TargetChanged, ReasonTargetChanged) // the Job stays suspended for ever
	case s.Before == "":
		return fsm.Save(ReasonBefore).Because("The state before the action is saved.")
	case w.Job == nil:
		return fsm.Do(ReasonPrepared, CreateJob{string(in.Obj.UID)}).Because("The Job is prepared.")
	}
	return fsm.Do(ReasonReleased, ReleaseJob{w.Job.UID}).Because("The Job is released.")
}

// reservedByOther is the hold: somebody else works on this target.
func reservedByOther(in input) (string, bool) {
	holder := in.World.Holder
	return "Waiting for " + holder + ", which has reserved the target.", holder != "" && holder != string(in.Obj.UID)
}

// lost: nothing is run that may have run before. A Job that runs or ended is
// judged by its witnesses; one that is suspended stays so.
func lost(in input) (fsm.Phase, bool) {
	w := in.World
	switch {
	case w.Job != nil && !w.Job.Suspended:
		return Executing, true
	case w.Token:
		return Completed, true
	}
	return Failed, w.Job != nil || w.Holder == string(in.Obj.UID)
}
