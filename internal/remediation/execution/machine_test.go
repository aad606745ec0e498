package execution

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

type bench = fsmtest.Bench[*remediationv1.KubernetesExecution, World]

// unasked is an execution that no person needs to approve.
func unasked() bench {
	return bench{
		Machine: &Machine,
		Object:  object,
		World:   world,
		Perform: Perform,
		Settle:  Settle,
		Any:     anything,
		End:     "completed/ExecutionCompletedPermanent",
		// A status that is lost takes the way back with it, or all that tells whether the Job was released.
		Also: []string{"failed/StatusLost"},
		Safe: safe,
	}
}

// asked is an execution that a person approves.
func asked() bench {
	b := unasked()
	b.World = func() World {
		w := world()
		w.Look.Plan.Policy.RequiresApproval = true
		w.Look.Plan.Digest = "d-approved"
		w.Decisions = []Decision{{Name: "ok", By: "olga", Token: approvedToken(), At: createdAt.Time, Until: createdAt.Add(20 * time.Hour)}}
		w.Look.Plan.Digest = approvedToken()
		return w
	}
	return b
}

func approvedToken() string {
	d := remediationv1.PolicyDecision{Pack: "p1", Allowed: true, RequiresApproval: true}
	return PlanOf(object(), "content", d).Token()
}

func object() *remediationv1.KubernetesExecution {
	x := &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"},
			TimeoutSeconds: 300, ApprovalTimeoutSeconds: 3600, StartDeadlineSeconds: 3600, FinalizeAfterSeconds: 300,
			Requester: &meta.Requester{Username: "dora"},
		},
	}
	x.Status.ObservedGeneration = -1
	return x
}

func world() World {
	d := remediationv1.PolicyDecision{Pack: "p1", Allowed: true}
	return World{
		Look: Look{
			Outcome: Planned, Fresh: true,
			Plan: &remediationv1.Plan{
				Digest: PlanOf(object(), "content", d).Token(), Content: "content", Summary: "replicas of Deployment web: 2 → 5", Footprint: "before",
				Changes: []remediationv1.Change{{Path: "spec.replicas", From: "2", To: "5"}},
				Target:  remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"},
				Policy:  d, Inverse: &remediationv1.Inverse{Action: "scale_deployment"}, Action: "a1", Account: "statecraft-action-scale-deployment",
			},
			Validation: &remediationv1.ValidationResults{ParameterValidation: true, RBACValidation: true, ResourceExists: true, PolicyAllowed: true},
			State:      &remediationv1.Footprint{Hash: "before", UID: "t1", ResourceVersion: "8"},
			Reserves:   reserve.Ref{Kind: "Deployment.apps", Namespace: "shop", Name: "web", UID: "t1"},
		},
		Target: reserve.Fact{State: reserve.Free},
		Job:    Job{Sight: presence.Gone},

		TakenBack: TakenBack{Looked: true},
	}
}

// safe is what must hold of every step: what cannot be taken back happens only when everything is saved.
func safe(in input, s fsm.Step[*remediationv1.KubernetesExecution]) error {
	w, status := in.World, in.Obj.Status
	for _, e := range s.Decision.Do {
		switch e := e.(type) {
		case CreateJob:
			if status.Before == nil || !w.Begun || status.JobUID != "" || status.Plan == nil {
				return errors.New("makes a Job without a state before, a mark or a plan, or a second one")
			}
		case ReleaseJob:
			if err := safeToRelease(in, e); err != nil {
				return err
			}
		case DeleteJob:
			if !w.Job.Suspended || w.Job.UID != e.UID || status.Withdrawal == nil {
				return errors.New("deletes a Job that may run, or without having saved why")
			}
		}
	}
	if saysDone(in, s.Decision) && (w.Job.Sight != presence.Here || w.Job.Suspended) && !w.Job.Pods && status.Plan != nil &&
		(status.JobUID == "" || status.Withdrawal != nil) {
		return errors.New("says that the target was changed although nothing was released")
	}
	for _, h := range s.Hops {
		if h.From == Executing && h.To == Failed && h.Event != OutcomeUnknown && status.ExecutionResults == nil && w.Job.Sight == presence.Here {
			return errors.New("ends without an effect while there is a Job")
		}
		if h.Event == Finalized && in.Obj.Spec.Parent != nil && w.Parent.Sight == presence.Here && !w.Parent.Over {
			return errors.New("is done for good while its request may take it back")
		}
		if h.From == Executing && h.Event != fsm.Lost && w.Job.Sight == "" && status.ExecutionResults == nil {
			return errors.New("ends without a look at the Job")
		}
	}
	return nil
}

// saysDone says that a decision saves that the target was changed.
func saysDone(in input, d fsm.Decision) bool {
	v, known := weigh(in)
	return d.Save && d.Reason == ReasonRecordingResult && known && v.effect == remediationv1.EffectApplied
}

func safeToRelease(in input, e ReleaseJob) error {
	w, status := in.World, in.Obj.Status
	switch c := judge(in); {
	case status.JobUID != e.UID || status.Effect != remediationv1.EffectStarted:
		return errors.New("releases a Job that is not saved")
	case !w.Look.Fresh || w.Look.Outcome != Planned || w.Look.Plan.Digest != status.Plan.Digest:
		return errors.New("releases another plan than the one that was looked at")
	case status.Plan.Policy.RequiresApproval && w.Look.Covered == "" && !c.approved(), c.rejected():
		return errors.New("releases a plan that no person approved, or that one rejected")
	case status.Plan.Policy.RequiresApproval && !isReceived(in):
		return errors.New("releases by an approval that is not saved")
	case w.Audit.Wanted && status.Audit == nil, w.Audit.Required && status.Audit.Seq == 0:
		return errors.New("releases what is not recorded")
	case w.Gates != (Gates{}), w.Unproven != "" && (!w.Begun || status.Before == nil), w.Target.State != reserve.Ours:
		return errors.New("releases through a closed gate")
	case w.Brakes.Any(in.Now):
		return errors.New("releases against a brake")
	case in.Obj.Spec.Parent != nil && !mayBeStep(in):
		return errors.New("releases a step that its request does not ask for")
	case w.Target.Unresolved != nil && w.Target.Unresolved.By.UID != in.Obj.UID:
		return errors.New("releases on a target with an unknown past")
	case w.Look.Token:
		return errors.New("releases what somebody says was done already")
	case in.Obj.Spec.Cancel, in.Obj.DeletionTimestamp != nil, status.Withdrawal != nil:
		return errors.New("releases what is cancelled, deleted or withdrawn")
	}
	return nil
}

// mayBeStep says that the request asks for this very execution.
func mayBeStep(in input) bool {
	p := in.World.Parent
	return p.Sight == presence.Here && !p.Over && !p.Deleted && (!p.Cancelled || in.Obj.Spec.Parent.Undo) && p.Agrees && p.Named
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, unasked()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, unasked()) }

func TestApprovedPath(t *testing.T) { fsmtest.Drill(t, asked()) }

// TestRecordedPath drills an execution whose intent must be recorded before anything is done.
func TestRecordedPath(t *testing.T) {
	b := unasked()
	b.World = func() World {
		w := world()
		w.Audit = Audit{Wanted: true, Required: true, Sight: presence.Gone}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestUnrecordedPath drills one whose intent should be recorded, while the database is away.
func TestUnrecordedPath(t *testing.T) {
	b := unasked()
	b.World = func() World {
		w := world()
		w.Audit = Audit{Wanted: true, Sight: presence.Unknown, Why: "the audit database cannot be reached"}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestNoWayBackPath drills an action that nothing takes back.
func TestNoWayBackPath(t *testing.T) {
	b := unasked()
	b.World = func() World { w := world(); w.Look.Plan.Inverse = nil; return w }
	fsmtest.Drill(t, b)
}

// TestFailedPath drills an action that changes nothing.
func TestFailedPath(t *testing.T) {
	b := unasked()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Sight == presence.Here && !w.Job.Suspended {
			w.Job.Over, w.Job.Pods = true, true
			w.Job.Report = &Report{Effect: remediationv1.EffectNotApplied, Message: "Forbidden"}
		}
		return w
	}
	b.End = "failed/execution_failed"
	fsmtest.Drill(t, b)
}

// TestIncompletePath drills an action of many writes that ends in the middle: it has failed, and can be taken back.
func TestIncompletePath(t *testing.T) {
	b := unasked()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Sight == presence.Here && !w.Job.Suspended {
			w.Job.Over, w.Job.Pods = true, true
			w.Job.Report = &Report{Effect: remediationv1.EffectApplied, Reason: ReasonIncomplete, Message: "2 pods are left: shop/a; shop/b."}
		}
		return w
	}
	b.End = "failed/execution_incomplete"
	fsmtest.Drill(t, b)
}

// TestSilentJobPath drills a Job that fails without a word of what it did.
func TestSilentJobPath(t *testing.T) {
	b := unasked()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Sight == presence.Here && !w.Job.Suspended {
			w.Job.Over, w.Job.Why = true, "Job failed"
		}
		return w
	}
	b.End = "failed/outcome_unknown"
	fsmtest.Drill(t, b)
}

// TestCancelledPath drills an execution that is cancelled once its Job is made, before it is released.
func TestCancelledPath(t *testing.T) {
	b := unasked()
	b.Lost = func() *remediationv1.KubernetesExecution { x := object(); x.Spec.Cancel = true; return x }
	b.Object = func() *remediationv1.KubernetesExecution { return saved(b.Lost()) }
	b.World = suspended
	b.End = "failed/cancelled"
	fsmtest.Drill(t, b)
}

// TestDeletedPath drills an execution that is deleted in the foreground once its Job is made: it is there until its dependents are gone.
func TestDeletedPath(t *testing.T) {
	b := unasked()
	b.Lost = func() *remediationv1.KubernetesExecution { x := object(); x.DeletionTimestamp = &createdAt; return x }
	b.Object = func() *remediationv1.KubernetesExecution { return saved(b.Lost()) }
	b.World = suspended
	b.End = "failed/cancelled"
	fsmtest.Drill(t, b)
}

// TestLostAccountPath drills an execution whose account is lost twice: while it waits for a person, and before its Job is released.
func TestLostAccountPath(t *testing.T) {
	b := asked()
	whole := asked().World()
	b.World = func() World { w := asked().World(); w.Decisions = nil; return w }
	without := func(l Look) Look {
		l.Outcome, l.NeedsAccount, l.Plan, l.Reason, l.Message = Waiting, true, nil, ReasonMakingAccount, "Waiting for the ServiceAccount to be made."
		return l
	}
	b.Perform = func(w World, e fsm.Effect) World {
		next := Perform(w, e)
		switch e.(type) {
		case MakeAccount:
			next.Look = whole.Look
		case CreateJob:
			next.Look = without(next.Look)
		}
		return next
	}
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if x.Status.Phase == WaitingApproval && w.Decisions == nil {
			w.Decisions, w.Look = whole.Decisions, without(w.Look)
		}
		return Settle(x, w)
	}
	fsmtest.Drill(t, b)
}

// TestChangedTargetPath drills a target that changes once the Job is made: nothing is done to it.
func TestChangedTargetPath(t *testing.T) {
	b := unasked()
	b.Settle = func(x *remediationv1.KubernetesExecution, w World) World {
		if w.Job.Suspended {
			plan := w.Look.Plan.DeepCopy()
			plan.Content, plan.Digest, plan.Footprint = "other", "other", "other"
			w.Look.Plan = plan
		}
		return Settle(x, w)
	}
	b.End = "failed/target_changed"
	fsmtest.Drill(t, b)
}

// saved is an execution whose Job is made and saved.
func saved(x *remediationv1.KubernetesExecution) *remediationv1.KubernetesExecution {
	l := world().Look
	x.Status.Place = meta.Place{Phase: Executing, Since: createdAt}
	x.Status.Plan, x.Status.Plans, x.Status.ValidationResults, x.Status.Before = l.Plan, 1, l.Validation, l.State
	x.Status.JobName, x.Status.JobUID, x.Status.Effect = JobName(x.UID), "job", remediationv1.EffectStarted
	return x
}

// suspended is a World in which the Job is made.
func suspended() World {
	w := world()
	w.Begun, w.Target = true, reserve.Fact{State: reserve.Ours}
	w.Job = Job{Sight: presence.Here, UID: "job", ResourceVersion: "1", Suspended: true}
	return w
}
