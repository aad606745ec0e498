package execution

import (
	"fmt"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// mostPlans is how often a plan may change in more than the policy's decision: a target that never
// stands still cannot be approved.
const mostPlans = 5

func decideValidating(in input) fsm.Decision {
	l, s := in.World.Look, in.Obj.Status
	switch {
	case l.NeedsAccount:
		return makeAccount(in)
	case l.Outcome == Refused:
		return fsm.Fire(Invalid, ReasonInvalid).Because("%s", l.Message)
	case l.Outcome == DryFails:
		return fsm.Fire(DryRunFailed, ReasonDryRunFailed).Because("%s", l.Message)
	case l.Outcome != Planned || !l.Fresh:
		return awaitLook(in)
	}
	if d, waits := awaitPreconditions(in); waits {
		return d
	}
	switch planned := s.Plan != nil && s.Plan.Digest == l.Plan.Digest; {
	case planned:
		return fsm.Fire(Passed, ReasonPlanned).Because("The plan may be carried out: %s.", l.Plan.Summary)
	case s.Plans >= mostPlans && s.Plan != nil && s.Plan.Content != l.Plan.Content:
		return fsm.Fire(Invalid, ReasonPlanUnstable).Because("The plan changed %d times while it was checked or waited for an approval; "+
			"make another execution once the target stands still.", s.Plans)
	}
	return fsm.Save(ReasonPlanning).Because("The plan is being saved: %s.", l.Plan.Summary)
}

// makeAccount makes the account of the action wherever it is missing: its binding may be deleted, and goes with the definition
// of the action, while an execution waits.
func makeAccount(in input) fsm.Decision {
	return fsm.Do(ReasonMakingAccount, MakeAccount{DefinitionAccount(in.Obj.Spec.Action)}).
		Because("The ServiceAccount of action %s is being made in namespace %s.", in.Obj.Spec.Action, in.Obj.Namespace)
}

// awaitLook waits for a look that succeeds, and says what stands in its way.
func awaitLook(in input) fsm.Decision {
	l := in.World.Look
	switch {
	case l.Outcome == Waiting && l.NeedsAccount:
		return makeAccount(in)
	case l.Outcome == Waiting && l.Message != "":
		return fsm.Wait(l.Reason, "look").In(lookAgain).Because("%s", l.Message)
	case l.Trouble != "":
		return fsm.Wait(ReasonNotLooked, "look").In(lookAgain).Because("Waiting for a look at the target and at the policy, which fails: the manager could not %s, and tries again. "+
			"If it goes on, the platform team finds the error in the manager's log.", l.Trouble)
	}
	return fsm.Wait(ReasonNotLooked, "look").In(lookAgain).Because("Waiting for a look at the target and at the policy.")
}

// lookAgain is how soon a look that did not succeed is repeated.
const lookAgain = 2 * time.Second

// awaitPreconditions waits for required preconditions, each for as long as it may take.
func awaitPreconditions(in input) (fsm.Decision, bool) {
	name, left, is := unmet(in.Obj.Spec.PreConditions, preResults(in.World.Look), in.Now.Sub(in.Obj.Status.Since.Time))
	switch {
	case !is:
		return fsm.Decision{}, false
	case left > 0:
		return fsm.Wait(ReasonPreconditions, "look").In(lookAgain).Because("Waiting for the required precondition %s to hold.", name), true
	}
	return fsm.Fire(Invalid, ReasonInvalid).Because("The required precondition %s does not hold: change what it asks for, and make another execution.", name), true
}

// unmet is the first required condition that does not hold, and for how long it may still be waited for.
func unmet(wanted []remediationv1.Condition, results []remediationv1.ConditionResult, waited time.Duration) (name string, left time.Duration, is bool) {
	for _, c := range wanted {
		if !c.Required || holds(results, c.Name) {
			continue
		}
		if rest := time.Duration(c.TimeoutSeconds)*time.Second - waited; !is || rest < left {
			name, left, is = c.Name, rest, true
		}
	}
	return name, left, is
}

func holds(results []remediationv1.ConditionResult, name string) bool {
	for _, r := range results {
		if r.Name == name {
			return r.Holds
		}
	}
	return false
}

func preResults(l Look) []remediationv1.ConditionResult {
	if l.Validation == nil {
		return nil
	}
	return l.Validation.PreConditionResults
}

func postResults(l Look) []remediationv1.ConditionResult {
	if l.Validation == nil {
		return nil
	}
	return l.Validation.PostConditionResults
}

func decideValidated(in input) fsm.Decision {
	switch {
	case in.Obj.Status.Plan == nil || mustPlanAnew(in):
		return fsm.Fire(PlanChanged, ReasonPlanChanged).Because("%s", whatChanged(in))
	case in.World.Look.Outcome != Planned:
		return awaitLook(in)
	case needsApproval(in):
		return fsm.Fire(ApprovalRequired, ReasonPolicy).Because("%s", whyApproval(in))
	}
	return reserved(in, fsm.Fire(Clear, ReasonNoApproval).Because("%s", noApproval(in)))
}

func decideWaitingApproval(in input) fsm.Decision {
	l, v := in.World.Look, judge(in)
	switch {
	case in.Obj.Status.Plan == nil:
		return fsm.Fire(PlanChanged, ReasonPlanChanged).Because("The plan was lost; it is made anew.")
	case v.rejected():
		return fsm.Fire(Rejected, ReasonRejected).Because("%s.", v.Why)
	case mustPlanAnew(in):
		return fsm.Fire(PlanChanged, ReasonPlanChanged).Because("%s", whatChanged(in))
	case l.Outcome != Planned:
		return awaitLook(in)
	case v.approved() && isTooLate(in):
		return fsm.Fire(StartTimeout, fsm.Reason(StartTimeout)).Because("The plan was approved, and could not be carried out within %ds: %s",
			in.Obj.Spec.StartDeadlineSeconds, heldBy(in))
	case v.approved() && isHeldTooLong(in):
		return fsm.Fire(ApprovalTimeout, fsm.Reason(ApprovalTimeout)).Because("%s", saysHeldTooLong(in, v))
	case v.approved():
		return reserved(in, fsm.Fire(Approved, ReasonApproved).Because("%s.", v.Why))
	}
	if missing := in.World.Gates.Policies; missing != "" { // no decision counts, so another approval would not help
		return fsm.Wait(ReasonPoliciesMissing, "gates", "approvals").In(gatesEvery).Because("%s", missing).OrLate(fsm.Verdict{Message: notApproved(in, v)})
	}
	waits := fmt.Sprintf("Waiting for a person with the right to approve it to decide on this plan: %s; kubectl get kx %s -o yaml shows it.",
		in.Obj.Status.Plan.Summary, in.Obj.Name)
	d := fsm.Wait(ReasonAwaitingApproval, "approvals", "look").Because("%s", waits+setAside(in))
	return d.OrLate(fsm.Verdict{Message: notApproved(in, v)})
}

// mustPlanAnew says that what would be done now is known, and is not what was planned.
func mustPlanAnew(in input) bool {
	l, p := in.World.Look, in.Obj.Status.Plan
	switch l.Outcome {
	case Refused, DryFails:
		return true
	case Planned:
		return p == nil || l.Plan.Digest != p.Digest
	}
	return false
}

func whatChanged(in input) string {
	if l := in.World.Look; l.Outcome == Refused || l.Outcome == DryFails {
		return l.Message
	}
	return "What would be done has changed since it was planned; the plan is made anew."
}

// reserved takes the target if nothing else keeps the execution from being released. An execution that waits for something
// else must not keep others from the target.
func reserved(in input, next fsm.Decision) fsm.Decision {
	if isHeld(in) || in.World.Target.State != reserve.Free || in.World.Target.Unresolved != nil {
		return next
	}
	return fsm.Do(ReasonReserving, reserve.Take{Target: in.World.Look.Reserves}).Because("The target is being reserved.")
}

// isHeld says that a gate or a brake is closed, not looking at who has the target.
func isHeld(in input) bool {
	_, awaits := awaitsRequest(in)
	return awaits || in.World.Gates != (Gates{}) || in.World.Brakes.Any(in.Now)
}

// decideRollbackReady waits for another execution to take the action back, and for the time for that to end.
func decideRollbackReady(in input) fsm.Decision {
	t := in.World.TakenBack
	switch {
	case !t.Looked:
		return fsm.Wait(ReasonNotLooked, "executions").In(lookAgain).Because("Waiting for a look at executions that take this one back.")
	case t.By != nil:
		return fsm.Fire(RolledBack, ReasonRolledBack).Because("KubernetesExecution %s took the action back.", t.By.Name)
	}
	if d, waits := awaitRequest(in); waits {
		return d
	}
	switch {
	case !isFinal(in):
		return fsm.Wait(ReasonExecuted, "executions").In(finalAt(in).Sub(in.Now)).Because("%s", doneWords(in))
	case t.UnderWay:
		return fsm.Wait(ReasonExecuted, "executions").In(gatesEvery).Because("%s", doneWords(in))
	}
	return fsm.Fire(Finalized, ReasonCompleted).Because("%s", doneWords(in))
}

func doneWords(in input) string {
	if p := in.Obj.Status.Plan; p != nil {
		return "The action is done: " + p.Summary + "."
	}
	return "The action is done."
}
