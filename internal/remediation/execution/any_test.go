package execution

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// anything is an execution that may be in a phase, and a World.
func anything(r *rand.Rand, phase fsm.Phase) (*remediationv1.KubernetesExecution, World) {
	x, w := object(), anyWorld(r)
	switch r.IntN(10) {
	case 0:
		x.Spec.Cancel = true
	case 1:
		x.DeletionTimestamp = &createdAt
	}
	if r.IntN(5) == 0 {
		x.Spec.Parent = ofStep()
		x.Spec.Parent.Undo = r.IntN(4) == 0
	}
	if r.IntN(3) == 0 {
		x.Spec.PreConditions = []remediationv1.Condition{{Name: "calm", Required: true, TimeoutSeconds: 30}}
	}
	if r.IntN(3) == 0 {
		x.Spec.PostConditions = []remediationv1.Condition{{Name: "available", Required: r.IntN(2) == 0, TimeoutSeconds: 30}}
	}
	if phase == "" || phase == Validating && r.IntN(2) == 0 {
		return x, w
	}
	x.Status.Plans = pick(r, int32(1), 1, 5, 6)
	if r.IntN(4) == 0 {
		x.Status.StartBy = &metav1.Time{Time: createdAt.Add(time.Duration(r.IntN(7200)) * time.Second)}
	}
	if r.IntN(8) > 0 {
		x.Status.Plan = anyPlan(r)
	}
	if phase == Executing {
		anyExecuting(r, x, &w)
	}
	if phase == WaitingApproval && r.IntN(4) == 0 { // or hardly any plan is the one that was approved
		approved := asked().World()
		w.Look, w.Decisions, x.Status.Plan = approved.Look, approved.Decisions, approved.Look.Plan.DeepCopy()
	}
	return x, w
}

func anyPlan(r *rand.Rand) *remediationv1.Plan {
	p := world().Look.Plan
	p.Policy.RequiresApproval = r.IntN(3) == 0
	p.Content = pick(r, "content", "content", "content", "other")
	p.Digest = PlanOf(object(), p.Content, p.Policy).Token()
	if r.IntN(6) == 0 {
		p.Action = "a2"
	}
	return p
}

func anyWorld(r *rand.Rand) World {
	w := world()
	w.Begun = r.IntN(3) == 0
	w.Unproven = pick(r, "", "", "", "", "The execution is older than the admission policies.")
	w.Parent = anyParent(r)
	switch r.IntN(18) {
	case 0:
		w.Brakes.Storm = closed(r)
	case 1:
		w.Brakes.Rate = closed(r)
	case 2:
		w.Brakes.Cooldown = closed(r)
	}
	w.Gates = pick(r, Gates{}, Gates{}, Gates{}, Gates{}, Gates{Policies: "A policy is missing."}, Gates{Identity: "The manager runs with another account."}, Gates{Suspended: "All executions are suspended."},
		Gates{Audit: "Waiting for the audit database."})
	w.Audit = pick(r, Audit{}, Audit{}, Audit{Wanted: true, Sight: pick(r, "", presence.Gone, presence.Here, presence.Unknown), Seq: 7, Hash: "hash", Why: "the audit database does not answer"})
	w.Audit.Required = w.Audit.Wanted && r.IntN(2) == 0
	w.Look = anyLook(r)
	w.Target = reserve.Fact{State: pick(r, "", reserve.Free, reserve.Ours, reserve.Ours, reserve.Ours, reserve.Others)}
	if w.Target.State == reserve.Others {
		w.Target.Holder = "KubernetesExecution shop/other"
	}
	if r.IntN(8) == 0 {
		w.Target.Unresolved = &reserve.Unresolved{By: reserve.Ref{Kind: "KubernetesExecution." + remediationv1.GroupName, Namespace: "shop", Name: "old", UID: types.UID(pick(r, "x0", "x1"))}, Requester: "dora"}
	}
	if r.IntN(2) == 0 {
		w.Decisions = []Decision{{Name: "one", By: pick(r, "olga", "olga", "dora"), Token: pick(r, approvedToken(), approvedToken(), "other"),
			Rejects: r.IntN(4) == 0, At: createdAt.Time, Until: createdAt.Add(time.Duration(r.IntN(3600*30)) * time.Second)}}
	}
	if r.IntN(6) == 0 {
		w.SetAside = []SetAside{{Name: "aside", By: "olaf", Why: "that user may not approve the execution", At: createdAt.Time}}
	}
	w.Job = anyJob(r)
	if r.IntN(3) == 0 {
		w.TakenBack = TakenBack{Looked: true, UnderWay: r.IntN(2) == 0}
		if !w.TakenBack.UnderWay {
			w.TakenBack.By = &remediationv1.ExecutionRef{Name: "back", UID: "x2"}
		}
	}
	return w
}

func anyParent(r *rand.Rand) Parent {
	p := Parent{Sight: pick(r, "", presence.Unknown, presence.Gone, presence.Other, presence.Here, presence.Here, presence.Here, presence.Here)}
	if p.Sight == presence.Here {
		over, ends := r.IntN(4) == 0, r.IntN(8)
		p.Over, p.Cancelled, p.Deleted, p.Agrees, p.Named = over, ends == 0, ends == 1, r.IntN(6) > 0, r.IntN(6) > 0
		p.Forgot = !p.Agrees
	}
	return p
}

// closed is a brake that holds, or has opened a moment ago.
func closed(r *rand.Rand) *brake.Closed {
	return &brake.Closed{Until: createdAt.Add(time.Duration(r.IntN(7200)) * time.Second), Why: "Others failed."}
}

func anyLook(r *rand.Rand) Look {
	l := world().Look
	l.Outcome = pick(r, "", Waiting, Refused, DryFails, Planned, Planned, Planned, Planned, Planned)
	l.Fresh, l.Token, l.NeedsAccount = r.IntN(4) > 0, r.IntN(8) == 0, r.IntN(12) == 0
	if l.Outcome == "" {
		return Look{}
	}
	if l.Outcome != Planned {
		l.Plan, l.Reason, l.Message = nil, pick(r, ReasonTargetChanged, ReasonAccessDenied, ReasonPolicyDenied), "The target does not exist."
		if l.Outcome == Waiting {
			l.Reason, l.Message = ReasonAccountNotReady, "Waiting for the account."
			if r.IntN(2) == 0 {
				l.Reason, l.Message = ReasonPolicyInvalid, "The policy pack does not compile."
			}
		}
		return l
	}
	l.Plan = anyPlan(r)
	l.Covered = pick(r, "", "", "", "olga")
	l.Validation.PreConditionResults = []remediationv1.ConditionResult{{Name: "calm", Holds: r.IntN(3) > 0, Required: true}}
	l.Validation.PostConditionResults = []remediationv1.ConditionResult{{Name: "available", Holds: r.IntN(2) == 0}}
	if r.IntN(6) == 0 {
		l.State = nil
	}
	return l
}

func anyJob(r *rand.Rand) Job {
	j := Job{Sight: pick(r, "", presence.Unknown, presence.Gone, presence.Gone, presence.Here, presence.Here, presence.Here, presence.Other)}
	if j.Sight == presence.Gone {
		j.Pods = r.IntN(8) == 0
	}
	if j.Sight != presence.Here {
		return j
	}
	j.UID, j.ResourceVersion, j.Suspended = "job", "1", r.IntN(2) == 0
	if j.Suspended {
		return j
	}
	j.StartedAt = metav1.NewTime(createdAt.Add(time.Duration(r.IntN(900)) * time.Second))
	j.Over = r.IntN(2) == 0
	j.Succeeded = j.Over && r.IntN(3) == 0
	j.TimedOut = j.Over && !j.Succeeded && r.IntN(2) == 0
	j.Pods, j.NeverStarted = r.IntN(3) > 0, j.Over && !j.Succeeded && r.IntN(3) == 0
	if j.Pods && !j.NeverStarted && r.IntN(2) == 0 {
		j.Report = &Report{Effect: pick(r, remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown),
			Reason: pick(r, "", ReasonTargetChanged, ReasonIncomplete), Message: pick(r, "", "The API server refuses it."), After: "after"}
	}
	return j
}

// anyExecuting is what an execution has saved by some point of executing.
func anyExecuting(r *rand.Rand, x *remediationv1.KubernetesExecution, w *World) {
	if r.IntN(4) == 0 {
		return
	}
	x.Status.Before = world().Look.State
	w.Begun = w.Begun || r.IntN(4) > 0
	if r.IntN(3) == 0 || !w.Begun {
		return
	}
	x.Status.JobUID, x.Status.Effect = "job", remediationv1.EffectStarted
	x.Status.Audit = pick(r, nil, nil, &remediationv1.IntentRecord{Message: "The intent was not recorded."}, &remediationv1.IntentRecord{Seq: 7, Hash: "hash"})
	switch r.IntN(4) {
	case 0:
		x.Status.Withdrawal = &remediationv1.Withdrawal{Reason: pick(r, ReasonCancelled, ReasonTargetChanged, ReasonExecutionTimeout, ReasonStatusLost), Message: "It was withdrawn."}
	case 1:
		anyResult(r, x)
	}
}

func anyResult(r *rand.Rand, x *remediationv1.KubernetesExecution) {
	x.Status.Effect = pick(r, remediationv1.EffectApplied, remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown)
	end := metav1.NewTime(createdAt.Add(time.Duration(r.IntN(120)) * time.Second))
	result := &remediationv1.ExecutionResults{EndTime: &end, Witnesses: "The pod said so."}
	switch x.Status.Effect {
	case remediationv1.EffectApplied:
		if result.Success = r.IntN(4) > 0; !result.Success {
			result.Reason, result.Message = ReasonIncomplete, "2 pods are left."
		}
		x.Status.RollbackInformation = &remediationv1.RollbackInformation{Available: r.IntN(2) == 0}
	case remediationv1.EffectUnknown:
		result.Reason = pick(r, ReasonOutcomeUnknown, ReasonStatusLost)
	default:
		result.Reason = pick(r, ReasonExecutionFailed, ReasonExecutionTimeout, ReasonTargetChanged)
	}
	x.Status.ExecutionResults = result
}
