package execution

import (
	"cmp"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const (
	validateWithin = time.Minute
	// grace is what a Job may take besides its own deadline: its pod is stopped, and the Job told.
	grace = 30 * time.Second
	// settle is how long the end of a Job is waited for after that: a pod on a silent node never ends.
	settle = time.Minute
)

// validateBy leaves every precondition its time.
func validateBy(in input) time.Time {
	within := validateWithin
	for _, c := range in.Obj.Spec.PreConditions {
		within = max(within, time.Duration(c.TimeoutSeconds)*time.Second+validateWithin)
	}
	return in.Now.Add(within)
}

// startBy is the deadline of the first plan that might be carried out: another plan does not buy time, or an old repair would
// start when a brake is lifted days later.
func startBy(in input) time.Time {
	if by := in.Obj.Status.StartBy; by != nil {
		return by.Time
	}
	return in.Now.Add(time.Duration(in.Obj.Spec.StartDeadlineSeconds) * time.Second)
}

// isTooLate says that the execution was held until its start deadline.
func isTooLate(in input) bool {
	by := in.Obj.Status.StartBy
	return by != nil && !in.Now.Before(by.Time)
}

// heldBy says what kept the execution from being carried out until it was too late.
func heldBy(in input) string {
	return cmp.Or(in.Obj.Status.WaitingFor, "its start deadline was over when it could begin.")
}

// finalAt is when an action that is done can be taken back no more under its own approval.
func finalAt(in input) time.Time {
	return in.Obj.Status.Since.Add(time.Duration(in.Obj.Spec.FinalizeAfterSeconds) * time.Second)
}

// approveBy is the deadline of the first plan: another plan does not buy time.
func approveBy(in input) time.Time {
	if by := in.Obj.Status.ApprovalBy; by != nil {
		return by.Time
	}
	return in.Now.Add(time.Duration(in.Obj.Spec.ApprovalTimeoutSeconds) * time.Second)
}

// releaseBy is when a Job that was not released is given up.
func releaseBy(in input) time.Time {
	if by := in.Obj.Status.StartBy; by != nil {
		return by.Time
	}
	return in.Obj.Status.Since.Add(time.Duration(in.Obj.Spec.StartDeadlineSeconds) * time.Second)
}

// knowBy is when a Job that was released must have ended.
func knowBy(in input) time.Time { return KnowBy(in.Obj, in.World.Job, in.Now) }

// KnowBy is when a Job that was released must have ended. After that the other witnesses are asked. A Job that was released a
// moment ago may not say since when it runs, and may have been kept suspended for long.
func KnowBy(x *remediationv1.KubernetesExecution, j Job, now time.Time) time.Time {
	from := x.Status.Since.Time
	switch {
	case !j.StartedAt.IsZero():
		from = j.StartedAt.Time
	case x.Status.ReleasedAt != nil:
		from = x.Status.ReleasedAt.Time
	case j.Sight == presence.Here && !j.Suspended:
		from = now
	}
	return from.Add(time.Duration(x.Spec.TimeoutSeconds)*time.Second + grace + settle)
}
