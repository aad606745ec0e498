package observe

import (
	"context"
	"fmt"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// The indexes by which executions are found. A namespace keeps those of months, so nothing looks at all of them: those by the hour
// leave out what happened long ago.
const (
	ByTarget     = "target"
	ByTargetName = "targetName"
	ByExecuting  = "executing"
	ByRelease    = "releasedInHour"
	ByFailure    = "failedInHour"
	ByBrake      = "brake"
)

// Brakes looks at what other executions did. It looks at the cache, because a brake is not about a single execution more or
// less; only what the cooldown of a target hangs on is looked at live.
type Brakes struct {
	Cached read.Reader
	Live   read.Live
	Limits brake.Limits
	Now    func() time.Time
}

// look says which brakes hold the execution. One without a plan is not held yet.
func (o Brakes) look(ctx context.Context, x *remediationv1.KubernetesExecution) (b brake.Brakes, err error) {
	if x.Status.Plan == nil {
		return b, nil
	}
	now, us := o.Now(), runOf(x)
	var failed []brake.Run
	if o.Limits.Failures > 0 { // a brake that is off looks at no other namespace
		if failed, err = o.inHours(ctx, ByFailure, now, o.Limits.Window); err != nil {
			return b, err
		}
	}
	released, err := o.inHours(ctx, ByRelease, now, brake.RateWindow, read.InNamespace(x.Namespace))
	if err != nil {
		return b, err
	}
	onTarget, err := o.onTarget(ctx, x)
	if err != nil {
		return b, err
	}
	return brake.Brakes{Storm: o.Limits.Storm(us, failed, now), Rate: o.Limits.Rate(us, released, now), Cooldown: o.Limits.Cooling(us, onTarget, now)}, nil
}

// inHours are the executions that an index has for the hours of a window.
func (o Brakes) inHours(ctx context.Context, index string, now time.Time, window time.Duration, opts ...read.ListOption) (runs []brake.Run, err error) {
	for at := now.Add(-window).Truncate(time.Hour); !at.After(now); at = at.Add(time.Hour) {
		var list remediationv1.KubernetesExecutionList
		if err := o.Cached.List(ctx, &list, append(opts[:len(opts):len(opts)], read.Fields{index: hour(at)})...); err != nil {
			return nil, fmt.Errorf("list executions by %s: %w", index, err)
		}
		for i := range list.Items {
			runs = append(runs, runOf(&list.Items[i]))
		}
	}
	return runs, nil
}

// onTarget are the executions on the same target. One that has just ended may be under way by the cache, and has released the
// target all the same: so those are looked at live. As a rule there is none, because a target is reserved for one at a time.
func (o Brakes) onTarget(ctx context.Context, x *remediationv1.KubernetesExecution) (runs []brake.Run, err error) {
	var list remediationv1.KubernetesExecutionList
	if err := o.Cached.List(ctx, &list, read.InNamespace(x.Namespace), read.Fields{ByTarget: string(x.Status.Plan.Target.UID)}, read.Shared); err != nil {
		return nil, fmt.Errorf("list executions on the target of %s: %w", x.Name, err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Status.Phase == execution.Executing && other.UID != x.UID && other.Spec.Action == x.Spec.Action {
			is := &remediationv1.KubernetesExecution{}
			sight, err := read.Find(ctx, o.Live, read.Key{Namespace: other.Namespace, Name: other.Name}, is, read.Is[*remediationv1.KubernetesExecution](other.UID))
			if err != nil {
				return nil, fmt.Errorf("look at an execution on the same target: %w", err)
			}
			if sight == presence.Here {
				other = is
			}
		}
		runs = append(runs, runOf(other))
	}
	return runs, nil
}

// runOf is what the brakes look at of an execution.
func runOf(x *remediationv1.KubernetesExecution) brake.Run {
	s := &x.Status
	r := brake.Run{UID: x.UID, Namespace: x.Namespace, Name: x.Name, Action: x.Spec.Action, FailedAt: failedAt(x)}
	if s.Plan != nil {
		r.Target = s.Plan.Target.UID
	}
	if p := x.Spec.Parent; p != nil {
		r.Request = p.UID
	}
	if of := x.Spec.RollbackOf; of != nil {
		r.TakesBack = of.UID
	}
	if s.ReleasedAt != nil {
		r.ReleasedAt = s.ReleasedAt.Time
	}
	if s.Effect == remediationv1.EffectApplied && s.ExecutionResults != nil && s.ExecutionResults.EndTime != nil {
		r.ChangedAt = s.ExecutionResults.EndTime.Time
	}
	return r
}

// failedAt is when an execution failed that had been released; zero is never. Those that a brake held until they were given up
// do not count, or a storm would feed on itself; and one that was taken back did what it should.
func failedAt(x *remediationv1.KubernetesExecution) time.Time {
	s := &x.Status
	if s.Phase != execution.Failed || s.Reason == execution.ReasonRolledBack || s.CompletionTimestamp == nil {
		return time.Time{}
	}
	switch s.Effect {
	case remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown:
		return s.CompletionTimestamp.Time
	}
	return time.Time{}
}

// TargetName is the key of an execution in the index ByTargetName: what it is asked to repair, whichever object has the name by now.
func TargetName(x *remediationv1.KubernetesExecution) string {
	return x.Spec.Target.Kind + "/" + x.Spec.Target.Name
}

// IfExecuting is the key of an execution in the index ByExecuting; "" is none.
func IfExecuting(x *remediationv1.KubernetesExecution) string {
	if x.Status.Phase == execution.Executing {
		return "true"
	}
	return ""
}

// HourOfRelease is the key of an execution in the index ByRelease; "" is none.
func HourOfRelease(x *remediationv1.KubernetesExecution) string { return hour(runOf(x).ReleasedAt) }

// HourOfFailure is the key of an execution in the index ByFailure; "" is none.
func HourOfFailure(x *remediationv1.KubernetesExecution) string { return hour(failedAt(x)) }

func hour(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15")
}
