package execution

import (
	"strings"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// verdict is what the witnesses say, and by whose word.
type verdict struct {
	effect  remediationv1.Effect
	witness string
}

// weigh weighs the witnesses of a Job that may have run: the word of its pod, the token on the target,
// and the Job itself. Nothing is decided while it may still run.
func weigh(in input) (verdict, bool) {
	j := in.World.Job
	if r := j.Report; r != nil {
		switch r.Effect {
		case remediationv1.EffectApplied:
			return verdict{r.Effect, "The pod of the Job reported that the target was changed."}, true
		case remediationv1.EffectNotApplied:
			return verdict{r.Effect, "The pod of the Job reported that nothing was changed."}, true
		}
	}
	switch {
	case (j.PodRuns || j.Sight == presence.Here && !j.Over) && in.Now.Before(knowBy(in)):
		return verdict{}, false
	case !in.World.Look.Fresh && in.Now.Before(knowBy(in).Add(settle)):
		return verdict{}, false // the token on the target is a witness, too
	}
	return weighSilent(in), true
}

// weighSilent is the verdict on a Job whose pod said nothing.
func weighSilent(in input) verdict {
	j := in.World.Job
	over := j.Sight == presence.Here && j.Over
	left := j.Sight == presence.Gone && j.Pods && !j.PodRuns // by a Job that is gone, which makes no other
	switch {
	case in.World.Look.Token && !isUntouched(in):
		return verdict{remediationv1.EffectApplied, "The target bears the token of the execution."}
	case over && j.Succeeded:
		return verdict{remediationv1.EffectApplied, "The Job succeeded; what its pod reported is lost."}
	case (over || left) && j.NeverStarted:
		return verdict{remediationv1.EffectNotApplied, "No container of the Job ever started, by the word of its kubelet."}
	}
	return verdict{remediationv1.EffectUnknown, "No witness says whether the target was changed: " + j.Why + "."}
}

// isUntouched says that what the plan changes is as it was before the Job: a token beside it proves nothing, because any user
// who may write the target can put it there.
func isUntouched(in input) bool {
	is, was, p := in.World.Look.State, in.Obj.Status.Before, in.Obj.Status.Plan
	return is != nil && was != nil && p != nil && len(p.Changes) > 0 && is.UID == was.UID && is.Hash == was.Hash
}

// judgeJob waits for the end of a Job that was released, and saves what it came to.
func judgeJob(in input) fsm.Decision {
	v, known := weigh(in)
	switch {
	case !known:
		return fsm.Wait(ReasonRunning, "children", "look").In(whenRunning(in)).Because("%s", runningWords(in))
	case v.effect == remediationv1.EffectUnknown && !isMarked(in):
		return fsm.Do(ReasonMarkingUnresolved, reserve.MarkUnresolved{Target: markedRef(in), Requester: requester(in)}).
			Because("No witness says what was done, so the target is marked: no execution touches it until a person has looked.")
	}
	return fsm.Save(ReasonRecordingResult).Because("%s", v.witness)
}

// isMarked says that the target bears a mark, or that nothing tells any more which object it was.
func isMarked(in input) bool {
	u := in.World.Target.Unresolved
	return u != nil || markedRef(in).UID == ""
}

// markedRef is what bears the mark. Without a plan it is what the look finds.
func markedRef(in input) reserve.Ref {
	if in.Obj.Status.Plan != nil {
		return MarkedRef(in.Obj)
	}
	return reservedRef(in)
}

// reservedRef is what is reserved for the target, and what was saved of that once it cannot be read.
func reservedRef(in input) reserve.Ref {
	if r := in.World.Look.Reserves; r.UID != "" {
		return r
	}
	return ReservedRef(in.Obj)
}

func requester(in input) string {
	if in.Obj.Spec.Requester == nil {
		return ""
	}
	return in.Obj.Spec.Requester.Username
}

// whenRunning is when a Job that runs is looked at by itself: at the end of its time. Of the end of a pod without its Job no
// event tells.
func whenRunning(in input) time.Duration {
	if left := knowBy(in).Sub(in.Now); left > lookAgain && in.World.Job.Sight == presence.Here {
		return left
	}
	return lookAgain
}

func runningWords(in input) string {
	if why := in.World.Job.Why; why != "" {
		return "Waiting for the action to end: " + why + "."
	}
	return "Waiting for the action to end."
}

// verify ends an execution whose result is saved: at once if it failed, else once its postconditions hold.
func verify(in input) fsm.Decision {
	s := in.Obj.Status
	r := s.ExecutionResults
	switch {
	case s.Effect == remediationv1.EffectUnknown:
		return fsm.Fire(OutcomeUnknown, r.Reason).Because("%s The action is never done again. Look at the target; then a person with the right to approve "+
			"acknowledges it by an ExecutionApproval with decision Acknowledged.", r.Witnesses)
	case s.Effect == remediationv1.EffectNotApplied && r.Reason == ReasonExecutionTimeout:
		return fsm.Fire(TimedOut, ReasonExecutionTimeout).Because("%s", failedWords(r))
	case s.Effect == remediationv1.EffectNotApplied:
		return fsm.Fire(ActionFailed, r.Reason).Because("%s", failedWords(r))
	case r.Reason == ReasonIncomplete:
		return fsm.Fire(ActionFailed, r.Reason).Because("The action was done in part: %s %s", r.Message, wayBackWords(s.RollbackInformation))
	}
	if d, waits := awaitPostconditions(in); waits {
		return d
	}
	if s.RollbackInformation != nil && s.RollbackInformation.Available {
		return fsm.Fire(Succeeded, ReasonExecuted).Because("%s", doneWords(in))
	}
	return fsm.Fire(SucceededFinal, ReasonCompleted).Because("%s", doneWords(in))
}

// reasonOf is the reason with which an execution ends that had this verdict; "" if it did what it should.
func reasonOf(in input, v verdict) fsm.Reason {
	report := in.World.Job.Report
	switch {
	case v.effect == remediationv1.EffectApplied && report != nil && report.Reason == ReasonIncomplete:
		return ReasonIncomplete
	case v.effect == remediationv1.EffectApplied:
		return ""
	case v.effect == remediationv1.EffectUnknown && in.Obj.Status.Plan == nil:
		return ReasonStatusLost
	case v.effect == remediationv1.EffectUnknown:
		return ReasonOutcomeUnknown
	case report != nil && report.Reason == ReasonTargetChanged:
		return ReasonTargetChanged
	case in.World.Job.TimedOut, report != nil && report.Reason == ReasonExecutionTimeout:
		return ReasonExecutionTimeout
	}
	return ReasonExecutionFailed
}

func wayBackWords(info *remediationv1.RollbackInformation) string {
	if info == nil || !info.Available {
		return "No action takes back what it did."
	}
	return "status.rollbackInformation says how to take back what it did."
}

func failedWords(r *remediationv1.ExecutionResults) string {
	if r.Message != "" {
		return "The action failed, and changed nothing: " + r.Message
	}
	return "The action failed, and changed nothing. " + r.Witnesses
}

// awaitPostconditions waits for required postconditions, each for as long as it may take from the end of the Job.
func awaitPostconditions(in input) (fsm.Decision, bool) {
	if len(in.Obj.Spec.PostConditions) == 0 {
		return fsm.Decision{}, false
	}
	ended := in.Obj.Status.ExecutionResults.EndTime
	results := postResults(in.World.Look)
	if !in.World.Look.Fresh { // what was seen before may not hold any more, and is not waited for without end
		results = nil
	}
	name, left, is := unmet(in.Obj.Spec.PostConditions, results, in.Now.Sub(ended.Time))
	switch {
	case !is:
		return fsm.Decision{}, false
	case left > 0:
		return fsm.Wait(ReasonPostconditions, "look").In(lookAgain).Because("The action is done; waiting for its required postconditions to hold."), true
	}
	found := "does not hold"
	if !in.World.Look.Fresh {
		found = "could not be seen to hold in its time, because no look succeeded"
	}
	return fsm.Fire(PostconditionFailed, ReasonPostconditionFailed).Because("The action is done, and the required postcondition %s %s; "+
		"status.rollbackInformation says how to take the action back.", name, found), true
}

func lower(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + sentence[1:]
}

// forever is longer than any condition may take.
const forever = 365 * 24 * time.Hour
