package execution

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// report saves what must be durable before the next step, and what is known.
func report(out *remediationv1.KubernetesExecution, in input, p fsm.Pass) {
	s := &out.Status
	if p.Decision.Save {
		save(s, in, p.Decision.Reason)
	}
	if s.Phase == WaitingApproval && s.ApprovalBy == nil {
		s.ApprovalBy = s.Deadline
	}
	if s.StartBy == nil && mayBegin(s, p) {
		s.StartBy = firstStartBy(s, in)
	}
	if s.ReleasedAt == nil {
		s.ReleasedAt = releasedAt(in, p)
	}
	if moved(p, Approved) || moved(p, Clear) {
		s.ApprovalReceived = received(in)
	}
	if Ended(out) || s.Phase == RollbackReady {
		reportChecks(s, in.World.Look)
	}
	if Ended(out) {
		reportEnd(s, in, p)
	}
}

// reportChecks keeps what conditions came to, of those that were looked at.
func reportChecks(s *remediationv1.KubernetesExecutionStatus, l Look) {
	if s.ValidationResults == nil && l.Validation != nil {
		s.ValidationResults = l.Validation
	}
	if s.ExecutionResults != nil && s.ValidationResults != nil && l.Fresh && len(postResults(l)) > 0 {
		s.ValidationResults.PostConditionResults = postResults(l)
	}
}

func reportEnd(s *remediationv1.KubernetesExecutionStatus, in input, p fsm.Pass) {
	if s.Phase == Failed && s.ExecutionResults == nil {
		s.Effect = remediationv1.EffectNone
	}
	if moved(p, RolledBack) {
		s.RolledBackBy = in.World.TakenBack.By
	}
	s.Withdrawal = nil // the condition says it
	if s.CompletionTimestamp == nil {
		s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
	}
}

// mayBegin says that nothing but a gate, a brake or the target keeps the execution from executing: what it waits for besides, a
// person above all, does not count against its start deadline.
func mayBegin(s *remediationv1.KubernetesExecutionStatus, p fsm.Pass) bool {
	held := s.Phase != Executing && (p.Decision.Held || p.Decision.Reason == ReasonReserving)
	return held || moved(p, Approved) || moved(p, Clear)
}

func firstStartBy(s *remediationv1.KubernetesExecutionStatus, in input) *metav1.Time {
	if s.Phase == Validated && s.Deadline != nil {
		return s.Deadline.DeepCopy()
	}
	return &metav1.Time{Time: in.Now.Truncate(time.Second).Add(time.Duration(in.Obj.Spec.StartDeadlineSeconds) * time.Second)}
}

// releasedAt is when the Job was released: now, or before a pass whose save was lost.
func releasedAt(in input, p fsm.Pass) *metav1.Time {
	j, now := in.World.Job, metav1.NewTime(in.Now.Truncate(time.Second))
	for _, o := range p.Outcomes {
		if _, is := o.Effect.(ReleaseJob); is && o.Err == nil {
			return &now
		}
	}
	switch {
	case j.Sight != presence.Here || j.Suspended:
		return nil
	case j.StartedAt.IsZero():
		return &now
	}
	return j.StartedAt.DeepCopy()
}

func moved(p fsm.Pass, on fsm.Event) bool {
	return slices.ContainsFunc(p.Hops, func(h fsm.Hop) bool { return h.Event == on })
}

func save(s *remediationv1.KubernetesExecutionStatus, in input, why fsm.Reason) {
	w, now := in.World, metav1.NewTime(in.Now.Truncate(time.Second))
	switch why {
	case ReasonPlanning:
		if s.Plan == nil || s.Plan.Content != w.Look.Plan.Content {
			s.Plans++
		}
		s.Plan, s.ValidationResults, s.ValidationTime = w.Look.Plan.DeepCopy(), w.Look.Validation.DeepCopy(), &now
	case ReasonPreparing:
		s.Before, s.Reserved = w.Look.State.DeepCopy(), ReservedTarget(w.Look.Reserves)
	case ReasonNoReturn:
		s.JobName, s.JobUID, s.Effect = JobName(in.Obj.UID), w.Job.UID, remediationv1.EffectStarted
	case ReasonApproved:
		s.ApprovalReceived = received(in)
	case ReasonRecordingIntent:
		s.Audit = w.Audit.record()
	case ReasonWithdrawing:
		if e, ends := ending(in); ends {
			s.Withdrawal = &remediationv1.Withdrawal{Reason: e.reason, Message: fsm.Cut(e.message)}
		}
	case ReasonRecordingResult:
		saveResult(s, in, now)
	}
}

func saveResult(s *remediationv1.KubernetesExecutionStatus, in input, now metav1.Time) {
	v, _ := weigh(in)
	j := in.World.Job
	r := &remediationv1.ExecutionResults{Witnesses: fsm.Cut(v.witness), EndTime: &now}
	if !j.StartedAt.IsZero() {
		r.StartTime, r.Duration = j.StartedAt.DeepCopy(), now.Sub(j.StartedAt.Time).String()
	}
	if word := j.Report; word != nil {
		r.Message, r.Warnings, r.Affected, r.ResourcesAffected = fsm.Cut(word.Message), word.Warnings, word.Affected, word.Resources
	}
	r.Reason = reasonOf(in, v)
	r.Success = v.effect == remediationv1.EffectApplied && r.Reason == ""
	s.Effect, s.ExecutionResults, s.Withdrawal = v.effect, r, nil
	if v.effect != remediationv1.EffectApplied {
		return
	}
	s.After = after(in)
	s.RollbackInformation = wayBack(in, r)
}

// after is the target as the action left it, if the action said so. The token alone does not tell: others may have written the
// target since, and an approval covers the rollback of what the action left, and of nothing else.
func after(in input) *remediationv1.Footprint {
	word, state := in.World.Job.Report, in.World.Look.State
	switch {
	case word != nil && word.After != "" && state != nil && state.Hash == word.After:
		return state.DeepCopy()
	case word != nil && word.After != "" && in.Obj.Status.Plan != nil:
		return &remediationv1.Footprint{Hash: word.After, UID: in.Obj.Status.Plan.Target.UID}
	}
	return nil
}

// wayBack says how to take the action back. What takes another action back is not taken back itself.
func wayBack(in input, r *remediationv1.ExecutionResults) *remediationv1.RollbackInformation {
	plan := in.Obj.Status.Plan
	switch {
	case in.Obj.Spec.RollbackOf != nil:
		return &remediationv1.RollbackInformation{Message: "This execution took another back; to do that action again, make a new execution."}
	case plan != nil && plan.Inverse == nil && plan.Caveat != "":
		return &remediationv1.RollbackInformation{Message: plan.Caveat}
	case plan == nil || plan.Inverse == nil:
		return &remediationv1.RollbackInformation{Message: "No action takes this one back."}
	}
	return &remediationv1.RollbackInformation{
		Available: true, RollbackAction: plan.Inverse.Action, RollbackParameters: plan.Inverse.Parameters,
		Target: plan.Target.UID, EstimatedRollbackDuration: r.Duration, Caveat: plan.Caveat,
	}
}

func received(in input) *remediationv1.ApprovalReceived {
	plan := in.Obj.Status.Plan
	if by := in.World.Look.Covered; by != "" {
		return &remediationv1.ApprovalReceived{Approver: by, PlanDigest: plan.Digest}
	}
	c := judge(in)
	if !c.approved() || !plan.Policy.RequiresApproval {
		return nil
	}
	until := metav1.NewTime(c.Until.Truncate(time.Second))
	return &remediationv1.ApprovalReceived{
		Name: c.by.Name, Approver: c.By, PlanDigest: plan.Digest, Until: &until, IncludesRollback: c.by.IncludesRollback,
	}
}

// lost finds where an execution stands whose status is gone: whatever bears its mark, or has a Job, has begun.
// From there its witnesses decide; a Job that was not released is deleted.
func lost(in input) (fsm.Phase, bool) {
	j := in.World.Job
	return Executing, in.World.Begun || j.UID != "" || j.Pods
}
