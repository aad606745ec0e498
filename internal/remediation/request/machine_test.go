package request

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

type bench = fsmtest.Bench[*remediationv1.RemediationRequest, World]

// stepwise is a request of three steps on two targets, all of which succeed.
func stepwise() bench {
	return bench{
		Machine: &Machine,
		Object:  object,
		World:   world,
		Perform: Perform,
		Settle:  Settle,
		Any:     anything,
		End:     "completed/RemediationCompleted",
		// A request that lost its status makes no execution any more.
		Also: []string{"failed/StatusLost"},
		Safe: safe,
	}
}

func object() *remediationv1.RemediationRequest {
	rr := &remediationv1.RemediationRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "repair", UID: "r1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
		Spec: remediationv1.RemediationRequestSpec{
			OnFailure: remediationv1.OnFailureStop, DeadlineSeconds: 3600, RollbackDeadlineSeconds: 900, Requester: &meta.Requester{Username: "dora"},
		},
	}
	for i, name := range []string{"first", "second", "third"} {
		rr.Spec.Steps = append(rr.Spec.Steps, remediationv1.RemediationStep{
			Name: name, Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: []string{"web", "till", "web"}[i]},
			TimeoutSeconds: 300, ApprovalTimeoutSeconds: 3600, StartDeadlineSeconds: 3600,
		})
	}
	rr.Status.ObservedGeneration = -1
	return rr
}

func deployment(name string) reserve.Ref {
	return reserve.Ref{Kind: "Deployment.apps", Namespace: "shop", Name: name, UID: uidOf(name)}
}

func world() World {
	var w World
	for _, name := range []string{"web", "till", "web"} {
		w.Looks = append(w.Looks, StepLook{Outcome: execution.Planned, Reserves: deployment(name)})
	}
	for _, name := range []string{"till", "web"} {
		w.Targets = append(w.Targets, Target{UID: uidOf(name), Fact: reserve.Fact{State: reserve.Free}})
	}
	w.Children.Looked = true
	return w
}

// safe is what must hold of every step.
func safe(in input, s fsm.Step[*remediationv1.RemediationRequest]) error {
	for _, e := range s.Decision.Do {
		if err := safeEffect(in, e); err != nil {
			return err
		}
	}
	for _, h := range s.Hops {
		l, is := underWay(s.Obj)
		if is && h.Lane == "" && Ended(s.Obj) {
			return fmt.Errorf("ends while an execution of step %s may be under way", l.name())
		}
		if _, failed := failedStep(in); h.Lane == "" && h.To == Completed && failed {
			return errors.New("calls a request completed of which a step failed")
		}
	}
	return oneAtATime(s.Obj)
}

func safeEffect(in input, e fsm.Effect) error {
	switch e := e.(type) {
	case CreateExecution:
		return safeToCreate(in, e)
	case CancelExecution:
		if !in.Obj.Spec.Cancel && in.Obj.DeletionTimestamp == nil {
			return errors.New("cancels an execution of a request that is not cancelled")
		}
	case reserve.Take:
		for _, t := range in.Obj.Status.Targets {
			if t.UID == e.Target.UID {
				return nil
			}
			if in.World.target(t.UID).State != reserve.Ours {
				return errors.New("reserves targets in another order than that in which they are saved")
			}
		}
	}
	return nil
}

func safeToCreate(in input, e CreateExecution) error {
	s := statusOf(in.Obj, e.Step)
	if s == nil {
		return errors.New("makes an execution of a step that is not saved")
	}
	r := runOf(s, e.Undo)
	switch _, is := in.World.child(e.Name); {
	case is:
		return errors.New("makes an execution that is there")
	case r == nil || r.Attempt != e.Attempt || (run{*r}).childName() != e.Name || (run{*r}).childUID() != "":
		return errors.New("makes an execution that is not saved, or makes it again")
	case !in.World.Begun:
		return errors.New("makes an execution without the mark")
	case isLost(in):
		return errors.New("makes an execution although the status was lost")
	case in.Obj.DeletionTimestamp != nil:
		return errors.New("makes an execution for a request that was deleted")
	case in.Obj.Spec.Cancel, in.Obj.Spec.Paused, in.World.Gates.Policies != "", in.World.Gates.Identity != "":
		return errors.New("makes an execution through a closed gate")
	case e.Undo && !canBeUndone(s), e.Undo && HasUnknown(in.Obj):
		return errors.New("takes back what cannot be, or after an unknown outcome")
	}
	return nil
}

func oneAtATime(rr *remediationv1.RemediationRequest) error {
	n := 0
	for i := range rr.Status.Steps {
		for _, undo := range []bool{false, true} {
			if r := runOf(&rr.Status.Steps[i], undo); r != nil && (run{*r}).isUnderWay() {
				n++
			}
		}
	}
	if n > 1 {
		return fmt.Errorf("%d executions are under way", n)
	}
	return nil
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, stepwise()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, stepwise()) }

// failing is a bench in which the execution of the second step comes to something else.
func failing(onFailure remediationv1.OnFailure, how func(*Child)) bench {
	b := stepwise()
	b.Object = func() *remediationv1.RemediationRequest { rr := object(); rr.Spec.OnFailure = onFailure; return rr }
	b.Settle = func(rr *remediationv1.RemediationRequest, w World) World {
		for _, c := range w.Children.List {
			if c.Step == "second" && !c.Undo && !c.over() && isNamed(rr, c) {
				w.Children.List = changed(w.Children.List, c.Name, how)
			}
		}
		return Settle(rr, w)
	}
	return b
}

func fails(c *Child) {
	c.Phase, c.Effect, c.Reason, c.Message = execution.Failed, remediationv1.EffectNotApplied, execution.ReasonExecutionFailed, "The action failed, and changed nothing."
}

func isUnknown(c *Child) {
	c.Phase, c.Effect, c.Reason, c.Message = execution.Failed, remediationv1.EffectUnknown, execution.ReasonOutcomeUnknown, "No witness is left."
}

func TestStopPath(t *testing.T) {
	b := failing(remediationv1.OnFailureStop, fails)
	b.End = "failed/RemediationFailed"
	fsmtest.Drill(t, b)
}

func TestRollbackPath(t *testing.T) {
	b := failing(remediationv1.OnFailureRollback, fails)
	b.End = "rolled_back/RemediationRolledBack"
	fsmtest.Drill(t, b)
}

// TestUnknownPath: nothing is taken back after an unknown outcome.
func TestUnknownPath(t *testing.T) {
	b := failing(remediationv1.OnFailureRollback, isUnknown)
	b.End = "failed/outcome_unknown"
	fsmtest.Drill(t, b)
}

// TestDeletedPath drills an execution that is deleted while it runs.
func TestDeletedPath(t *testing.T) {
	b := failing(remediationv1.OnFailureRollback, func(c *Child) { c.Sight = presence.Other; c.UID = "of another" })
	b.End = "failed/outcome_unknown"
	fsmtest.Drill(t, b)
}

// TestRetryPath drills a step that fails twice without an effect, and then succeeds.
func TestRetryPath(t *testing.T) {
	b := failing(remediationv1.OnFailureStop, func(c *Child) {
		if c.Attempt > 2 {
			done(c)
			return
		}
		fails(c)
	})
	b.Object = func() *remediationv1.RemediationRequest { rr := object(); rr.Spec.Steps[1].MaxRetries = 2; return rr }
	fsmtest.Drill(t, b)
}

// TestUndoPath drills a rollback of which one step cannot be taken back.
func TestUndoPath(t *testing.T) {
	b := failing(remediationv1.OnFailureRollback, fails)
	settle := b.Settle
	b.Settle = func(rr *remediationv1.RemediationRequest, w World) World {
		for _, c := range w.Children.List {
			if c.Undo && !c.over() && isNamed(rr, c) {
				w.Children.List = changed(w.Children.List, c.Name, fails)
			}
		}
		return settle(rr, w)
	}
	b.End = "failed/rollback_failed"
	fsmtest.Drill(t, b)
}

// TestTakenBackPath drills a rollback of a step that a person takes back meanwhile: the execution of the request is refused.
func TestTakenBackPath(t *testing.T) {
	b := failing(remediationv1.OnFailureRollback, fails)
	settle := b.Settle
	b.Settle = func(rr *remediationv1.RemediationRequest, w World) World {
		for _, c := range w.Children.List {
			if c.Undo && !c.over() {
				w.Children.List = changed(w.Children.List, c.Name, withoutEffect(execution.ReasonInvalid))
				w.Children.List = changed(w.Children.List, ChildName(rr.UID, rr.Name, "first", 1, false), isTakenBackByMine)
			}
		}
		return settle(rr, w)
	}
	b.End = "rolled_back/RemediationRolledBack"
	fsmtest.Drill(t, b)
}

// isTakenBackByMine is an execution that a person took back.
func isTakenBackByMine(c *Child) {
	c.Phase, c.Effect, c.Reason, c.Message = execution.Failed, remediationv1.EffectApplied, execution.ReasonRolledBack, "KubernetesExecution mine took the action back."
	c.TakenBackBy = uidOf("mine")
}

// TestCancelledPath drills a request that is cancelled while its second step runs: it waits for the end of its execution. One
// that was deleted, and waits for its dependents to go, does the same.
func TestCancelledPath(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		fsmtest.Drill(t, ending(func(rr *remediationv1.RemediationRequest) { rr.Spec.Cancel = true }))
	})
	t.Run("deleted", func(t *testing.T) {
		fsmtest.Drill(t, ending(func(rr *remediationv1.RemediationRequest) { rr.DeletionTimestamp = &createdAt }))
	})
}

// ending is a bench in which the owner of the request ends it while its second step runs.
func ending(how func(*remediationv1.RemediationRequest)) bench {
	b := stepwise()
	b.Lost = func() *remediationv1.RemediationRequest { rr := object(); how(rr); return rr }
	b.Object = func() *remediationv1.RemediationRequest { return atSecond(b.Lost()) }
	b.World = func() World { return atSecondWorld(b.Object()) }
	b.Settle = func(rr *remediationv1.RemediationRequest, w World) World {
		for _, c := range w.Children.List {
			if !c.over() && (c.Cancelled || isForgotten(rr, c)) {
				w.Children.List = changed(w.Children.List, c.Name, withoutEffect(execution.ReasonCancelled))
			}
		}
		return w
	}
	b.End = "failed/cancelled"
	return b
}

// atSecond is a request whose second step runs.
func atSecond(rr *remediationv1.RemediationRequest) *remediationv1.RemediationRequest {
	rr.Status.Place = meta.Place{Phase: Executing, Since: createdAt}
	rr.Status.History = []meta.Transition{{From: Pending, To: Executing, Event: Admitted, Reason: ReasonAdmitted, At: createdAt}}
	rr.Status.Targets, rr.Status.Steps = targetsOf(world().Looks), begin(rr.Spec.Steps)
	for i, phase := range []fsm.Phase{StepSucceeded, StepRunning, StepWaiting} {
		s := &rr.Status.Steps[i]
		if s.Place = (meta.Place{Phase: phase, Since: createdAt}); phase == StepWaiting {
			continue
		}
		name := ChildName(rr.UID, rr.Name, s.Name, 1, false)
		s.Attempt, s.StartedAt, s.Execution = 1, &createdAt, &remediationv1.ChildRef{Name: name, UID: uidOf(name)}
	}
	first := &rr.Status.Steps[0]
	first.EndedAt, first.Effect, first.Message = &createdAt, remediationv1.EffectApplied, "The action is done."
	first.RollbackInformation = &remediationv1.RollbackInformation{Available: true, RollbackAction: "scale_deployment"}
	return rr
}

func atSecondWorld(rr *remediationv1.RemediationRequest) World {
	w := world()
	w.Begun = true
	for i := range w.Targets {
		w.Targets[i].State = reserve.Ours
	}
	for i := range 2 {
		s := rr.Status.Steps[i]
		c := Child{Name: s.Execution.Name, Sight: presence.Here, UID: s.Execution.UID, ResourceVersion: "1", Step: s.Name, Attempt: 1}
		if i == 0 {
			done(&c)
		}
		w.Children.List = append(w.Children.List, c)
	}
	return w
}
