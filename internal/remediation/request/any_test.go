package request

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// anything is a request that may be in a phase, and a World.
func anything(r *rand.Rand, phase fsm.Phase) (*remediationv1.RemediationRequest, World) {
	rr := object()
	ends := r.IntN(8)
	if ends == 1 {
		rr.DeletionTimestamp = &createdAt
	}
	rr.Spec.Cancel, rr.Spec.Paused = ends == 0, r.IntN(8) == 0
	rr.Spec.OnFailure = pick(r, remediationv1.OnFailureStop, remediationv1.OnFailureRollback)
	rr.Spec.DeadlineSeconds, rr.Spec.RollbackDeadlineSeconds = pick[int32](r, 3600, 200_000, 200_000), pick[int32](r, 300, 900)
	for i := range rr.Spec.Steps {
		rr.Spec.Steps[i].MaxRetries = pick[int32](r, 0, 0, 2)
	}
	w := anyWorld(r)
	if r.IntN(3) > 0 || phase != Pending && phase != "" {
		rr.Status.Targets = targetsOf(world().Looks)
	}
	switch phase {
	case Executing:
		if r.IntN(8) == 0 {
			rr.Status.Targets = nil
			rr.Status.History = []meta.Transition{{To: Executing, Event: fsm.Lost, Reason: "StatusLost", At: createdAt}}
			w.Begun = true
			anyOrphans(r, rr, &w)
			return rr, w
		}
		anySteps(r, rr, &w)
	case RollingBack, Completed, RolledBack, Failed:
		anySteps(r, rr, &w)
		if phase == RollingBack {
			anyUndo(r, rr, &w)
		}
	}
	anyTakenBack(r, rr, &w)
	return rr, w
}

// anyTakenBack are executions of steps that stand, some of which others took back.
func anyTakenBack(r *rand.Rand, rr *remediationv1.RemediationRequest, w *World) {
	for i := range rr.Status.Steps {
		s := &rr.Status.Steps[i]
		if _, is := w.child((run{s.StepRun}).childName()); is || !stands(s) || r.IntN(3) == 0 {
			continue
		}
		c := Child{Name: s.Execution.Name, Sight: presence.Here, UID: s.Execution.UID, ResourceVersion: "1", Step: s.Name, Attempt: s.Attempt}
		if done(&c); r.IntN(3) == 0 {
			isTakenBackByMine(&c)
		}
		w.Children.List = append(w.Children.List, c)
	}
}

func anyWorld(r *rand.Rand) World {
	w := world()
	w.Begun = r.IntN(3) == 0
	w.Unproven = pick(r, "", "", "", "", "The request is older than the admission policies.")
	w.Gates = pick(r, execution.Gates{}, execution.Gates{}, execution.Gates{}, execution.Gates{Policies: "A policy is missing."}, execution.Gates{Identity: "The manager is somebody else."})
	if r.IntN(3) == 0 {
		l := &w.Looks[r.IntN(3)]
		switch *l = (StepLook{Outcome: pick(r, execution.Waiting, execution.Refused)}); {
		case l.Outcome == execution.Refused:
			l.Message = "There is no ActionDefinition scale-deployment, so the action scale_deployment does not exist."
		default:
			l.Reason, l.Message, l.NeedsAccount = execution.ReasonAccountNotReady, "Waiting for the account.", r.IntN(2) == 0
		}
	}
	if r.IntN(8) == 0 {
		w.Looks = nil
	}
	for i := range w.Targets {
		w.Targets[i].State = pick(r, "", reserve.Free, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Others)
		if w.Targets[i].State == reserve.Others {
			w.Targets[i].Holder = "RemediationRequest shop/other"
		}
	}
	w.Children.Looked = r.IntN(8) > 0
	return w
}

// anySteps are some steps that succeeded, and one that is anywhere.
func anySteps(r *rand.Rand, rr *remediationv1.RemediationRequest, w *World) {
	w.Begun = w.Begun || r.IntN(4) > 0
	rr.Status.History = []meta.Transition{{From: Pending, To: Executing, Event: Admitted, Reason: ReasonAdmitted, At: createdAt}}
	rr.Status.Steps = begin(rr.Spec.Steps)
	succeeded := r.IntN(4)
	for i := range rr.Status.Steps {
		s := &rr.Status.Steps[i]
		switch {
		case i < succeeded:
			s.Phase = StepSucceeded
			anyTry(r, rr, s, false)
			ends(s, &s.StepRun, result{effect: remediationv1.EffectApplied, message: "The action is done."})
			s.RollbackInformation = &remediationv1.RollbackInformation{Available: r.IntN(5) > 0, RollbackAction: "scale_deployment"}
		case i == succeeded:
			anyRun(r, rr, s, false, w)
		default:
			s.Phase = StepWaiting
		}
	}
}

func anyTry(r *rand.Rand, rr *remediationv1.RemediationRequest, s *remediationv1.StepStatus, undo bool) {
	run := runOf(s, undo)
	run.Attempt, run.StartedAt = pick[int32](r, 1, 1, 2, 3), &createdAt
	name := ChildName(rr.UID, rr.Name, s.Name, run.Attempt, undo)
	run.Execution = &remediationv1.ChildRef{Name: name, UID: uidOf(name)}
}

func ends(s *remediationv1.StepStatus, run *remediationv1.StepRun, res result) {
	at := metav1.NewTime(createdAt.Add(time.Minute))
	run.EndedAt, run.Effect, run.Reason, run.Message = &at, res.effect, res.reason, res.message
	if run == &s.StepRun && res.effect == remediationv1.EffectApplied {
		s.RollbackInformation = &remediationv1.RollbackInformation{Available: true, RollbackAction: "scale_deployment"}
	}
}

func anyFailure(r *rand.Rand) result {
	return pick(r,
		result{effect: remediationv1.EffectNotApplied, reason: execution.ReasonExecutionFailed, message: "The action failed."},
		result{effect: remediationv1.EffectNone, reason: execution.ReasonRejected, message: "User olga rejected the plan."},
		result{effect: remediationv1.EffectNone, reason: ReasonCancelled, message: "It was cancelled."},
		result{effect: remediationv1.EffectNone, reason: ReasonNameTaken, message: "Another has its name."},
		result{effect: remediationv1.EffectApplied, reason: execution.ReasonPostconditionFailed, message: "A postcondition does not hold."},
		result{effect: remediationv1.EffectUnknown, reason: ReasonOutcomeUnknown, message: "No witness is left."})
}

// anyRun is a try in any phase, and its execution.
func anyRun(r *rand.Rand, rr *remediationv1.RemediationRequest, s *remediationv1.StepStatus, undo bool, w *World) {
	run := runOf(s, undo)
	run.Phase = pick(r, "", StepWaiting, StepStarting, StepStarting, StepRunning, StepRunning, StepRunning, StepFailed)
	if run.Phase == "" || run.Phase == StepWaiting && r.IntN(2) == 0 {
		return
	}
	anyTry(r, rr, s, undo)
	switch {
	case run.Phase == StepWaiting:
		ends(s, run, result{effect: remediationv1.EffectNotApplied, reason: execution.ReasonExecutionFailed, message: "The action failed."})
		run.Execution = nil
		return
	case run.Phase == StepFailed, r.IntN(4) == 0:
		ends(s, run, anyFailure(r))
	}
	if run.Phase == StepRunning && run.EndedAt != nil && r.IntN(3) == 0 {
		ends(s, run, result{effect: remediationv1.EffectApplied, message: "The action is done."})
	}
	if run.Phase == StepStarting && r.IntN(3) > 0 {
		run.Execution.UID = ""
	}
	anyChild(r, s, run, undo, w)
}

func anyChild(r *rand.Rand, s *remediationv1.StepStatus, run *remediationv1.StepRun, undo bool, w *World) {
	if r.IntN(4) == 0 {
		return
	}
	c := Child{Name: run.Execution.Name, Sight: pick(r, presence.Here, presence.Here, presence.Here, presence.Here, presence.Other), UID: uidOf(run.Execution.Name), ResourceVersion: "1",
		Step: s.Name, Attempt: run.Attempt, Undo: undo, Cancelled: r.IntN(4) == 0, Awaits: pick(r, "", "Waiting for a person to approve it.")}
	switch r.IntN(4) {
	case 0:
		done(&c)
	case 1:
		res := anyFailure(r)
		c.Phase, c.Effect, c.Reason, c.Message = execution.Failed, res.effect, res.reason, res.message
	}
	w.Children.List = append(w.Children.List, c)
}

// anyUndo is a rollback that has come anywhere.
func anyUndo(r *rand.Rand, rr *remediationv1.RemediationRequest, w *World) {
	rr.Status.History = append(rr.Status.History, meta.Transition{From: Executing, To: RollingBack, Event: StepHasFailedRollsBack, Reason: ReasonRollingBack,
		Message: "Step second failed in try 1 (execution_failed): It failed. What was done is taken back.", At: createdAt})
	undone := r.IntN(4)
	for i := len(rr.Status.Steps) - 1; i >= 0; i-- {
		s := &rr.Status.Steps[i]
		if (run{s.StepRun}).isUnderWay() || s.Effect == remediationv1.EffectUnknown {
			s.Phase = StepFailed
			ends(s, &s.StepRun, result{effect: remediationv1.EffectNotApplied, reason: execution.ReasonExecutionFailed, message: "The action failed."})
		}
		if !canBeUndone(s) || undone < 0 {
			continue
		}
		s.Undo = &remediationv1.StepRun{}
		if undone > 0 {
			s.Undo.Phase = StepSucceeded
			anyTry(r, rr, s, true)
			ends(s, s.Undo, result{effect: remediationv1.EffectApplied, message: "The action is done."})
		} else {
			anyRun(r, rr, s, true, w)
		}
		undone--
	}
}

// anyOrphans are executions of a request that lost its status.
func anyOrphans(r *rand.Rand, rr *remediationv1.RemediationRequest, w *World) {
	for _, s := range rr.Spec.Steps {
		if r.IntN(6) == 0 {
			continue
		}
		c := Child{Name: ChildName(rr.UID, rr.Name, s.Name, 1, false), Sight: presence.Here, Step: s.Name, Attempt: 1}
		c.UID = uidOf(c.Name)
		if r.IntN(6) > 0 {
			done(&c)
		}
		if r.IntN(8) == 0 {
			isUnknown(&c)
		}
		w.Children.List = append(w.Children.List, c)
	}
}
