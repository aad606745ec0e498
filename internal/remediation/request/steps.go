package request

import (
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// step is the input of a lane: a step, or taking it back.
type step = fsm.LaneInput[*remediationv1.RemediationRequest, World]

// stepRules are those of carrying out a step, and of taking it back alike.
var stepRules = fsm.Rules[step]{
	Start: StepWaiting,
	// Each stands before an execution is made. Once it is made none applies: it goes on, and its end is saved.
	Holds: []fsm.Hold[step]{
		stepGate(ReasonPaused, "self", isPaused),
		stepGate(ReasonPoliciesMissing, "gates", func(in input) (string, bool) { return in.World.Gates.Policies, in.World.Gates.Policies != "" }),
		stepGate(ReasonWrongIdentity, "gates", func(in input) (string, bool) { return in.World.Gates.Identity, in.World.Gates.Identity != "" }),
		stepGate(ReasonReservedByOther, reserve.Wake.Name, isReservedByOther),
	},
	Phases: map[fsm.Phase]fsm.Rule[step]{
		StepWaiting: {
			Doc:    "Waiting for its turn, or for its next try.",
			Class:  fsm.Working,
			Decide: decideStepWaiting,
			On:     map[fsm.Event]fsm.Phase{Begun: StepStarting, TakenBack: StepSucceeded},
		},
		StepStarting: {
			Doc:    "The execution of this try is being made, and its UID saved.",
			Class:  fsm.Working,
			Decide: decideStepStarting,
			On:     map[fsm.Event]fsm.Phase{Made: StepRunning, GivenUp: StepFailed, TakenBack: StepSucceeded},
		},
		StepRunning: {
			Doc:    "The execution of this try goes on until it has ended.",
			Class:  fsm.Working,
			Decide: decideStepRunning,
			On:     map[fsm.Event]fsm.Phase{Succeeded: StepSucceeded, Retried: StepWaiting, GivenUp: StepFailed, TakenBack: StepSucceeded},
		},
		StepSucceeded: {Doc: "The execution of the last try is done, or an execution of another took the step back.", Class: fsm.Done},
		StepFailed:    {Doc: "The last try failed; its reason says why, and its effect what is known of the target.", Class: fsm.Failed},
	},
}

// stepGate is a hold that keeps an execution from being made. Its words are those of the request.
func stepGate(reason fsm.Reason, wake string, closed func(input) (string, bool)) fsm.Hold[step] {
	return fsm.Hold[step]{Reason: reason, In: []fsm.Phase{StepStarting}, Wake: wake, ClockRuns: true,
		When: func(in step) (string, bool) { return closed(in.Input) }}
}

func decideStepWaiting(in step) fsm.Decision {
	l := laneOf(in)
	switch {
	case !in.World.Children.Looked:
		return awaitLook(l)
	case isTakenBack(in.Input, l):
		return fireTakenBack(in.Input, l)
	case !in.World.Begun || isOver(in.Input):
		return fsm.Wait(ReasonNotItsTurn, "children").Because("Waiting for the request to go on.")
	case !isItsTurn(in.Input, l):
		return fsm.Wait(ReasonNotItsTurn, "children").Because("Waiting for the steps that come before step %s.", l.name())
	}
	if left := nextTryAt(l.run).Sub(in.Now); left > 0 {
		return fsm.Wait(ReasonBackingOff).In(left).Because("Try %d of step %s failed without an effect: %s The next one begins at %s.",
			l.run.Attempt, l.name(), l.run.Message, nextTryAt(l.run).UTC().Format(time.RFC3339))
	}
	if d, takes := reserveTargets(in.Input); takes {
		return d
	}
	return fsm.Fire(Begun, ReasonItsTurn)
}

// decideStepStarting makes the execution, and saves its UID. The execution waits for that.
func decideStepStarting(in step) fsm.Decision {
	l := laneOf(in)
	child, is := in.World.child(l.run.childName())
	r, known := resultOf(in, l)
	switch {
	case l.run.Execution == nil: // what is known of the try before this one says nothing about it
		return fsm.Wait(ReasonItsTurn, "children").Because("Try %d of step %s is being saved.", l.run.Attempt+1, l.name())
	case !in.World.Children.Looked:
		return awaitLook(l)
	case isTakenBack(in.Input, l) && !(is && child.Sight == presence.Here): // one that is made ends first
		return fireTakenBack(in.Input, l)
	case l.run.EndedAt != nil:
		return fsm.Fire(GivenUp, ReasonStepEnded).Because("%s", l.run.Message)
	case l.run.childUID() != "":
		return fsm.Fire(Made, ReasonCreated)
	case known:
		return fsm.Save(ReasonRecording).Because("%s", r.message)
	case !is && !in.World.Begun:
		return fsm.Wait(ReasonBeginning, "children").Because("Waiting for the request to be marked as begun.")
	case !is:
		return fsm.Do(ReasonCreating, CreateExecution{Name: l.run.childName(), Step: l.step.Name, Attempt: l.run.Attempt, Undo: l.undo}).
			Because("The execution of step %s is being made.", l.name())
	}
	return fsm.Save(ReasonNaming).Because("KubernetesExecution %s is made, and its UID is being saved.", child.Name)
}

// decideStepRunning waits for the end of the execution, and saves it before anything follows from it.
func decideStepRunning(in step) fsm.Decision {
	l := laneOf(in)
	child, is := in.World.child(l.run.childName())
	if l.run.EndedAt != nil {
		return afterTry(in, l)
	}
	r, known := resultOf(in, l)
	switch {
	case !in.World.Children.Looked:
		return awaitLook(l)
	case known:
		return fsm.Save(ReasonRecording).Because("%s", r.message)
	case isCancelled(in.Input) && is && !child.Cancelled:
		return fsm.Do(ReasonCancelling, CancelExecution{child.Name, child.UID, child.ResourceVersion}).
			Because("%s, so KubernetesExecution %s is being cancelled.", cancelled(in.Input), child.Name)
	}
	return fsm.Wait(ReasonStepRunning, "children").Because("%s", runningWords(in.Input, l, child))
}

// afterTry decides what follows from the end of a try, which is saved.
func afterTry(in step, l lane) fsm.Decision {
	switch {
	case l.run.succeeded() && l.undo:
		return fsm.Fire(Succeeded, ReasonStepUndone).Because("%s", l.run.Message)
	case l.run.succeeded():
		return fsm.Fire(Succeeded, ReasonStepDone).Because("%s", l.run.Message)
	case l.undo && !in.World.Children.Looked:
		return awaitLook(l)
	case isTakenBack(in.Input, l):
		return fireTakenBack(in.Input, l)
	case mayTryAgain(in.Input, l):
		return fsm.Fire(Retried, ReasonTryingAgain).Because("%s", l.run.Message)
	}
	return fsm.Fire(GivenUp, ReasonStepEnded).Because("%s", l.run.Message)
}

func awaitLook(l lane) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "children").In(lookAgain).Because("Waiting for a look at the execution of step %s.", l.name())
}

// runningWords quote what the execution waits for: it may be a person.
func runningWords(in input, l lane, c Child) string {
	words := "Waiting for KubernetesExecution " + c.Name + " of step " + l.name() + " to end."
	if c.Awaits != "" {
		words = "Step " + l.name() + ", KubernetesExecution " + c.Name + ": " + c.Awaits
	}
	if in.Obj.Spec.Paused {
		words = "Paused, so no other step begins until the owner of the request sets spec.paused to false. " + words
	}
	return words
}
