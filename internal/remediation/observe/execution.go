// Package observe reads what machines of area remediation decide by.
package observe

import (
	"context"
	"fmt"
	"strings"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// freshWithin is how old a look may be that something is released by.
const freshWithin = 3 * time.Second

// Execution observes KubernetesExecutions.
type Execution struct {
	Cached       read.Reader
	Live         read.Live
	Looks        read.Samples[execution.Look]
	Gates        Gates
	Brakes       Brakes
	Audit        Audit
	Decisions    Decisions
	Reservations read.Reservations
	Now          func() time.Time
}

// Observe reads what matters in the phase in which the execution is.
func (o Execution) Observe(ctx context.Context, x *remediationv1.KubernetesExecution) (w execution.World, err error) {
	w.Begun = x.Annotations[remediationv1.BegunAnnotation] == string(x.UID)
	switch x.Status.Phase {
	case execution.Completed, execution.Failed:
		return w, nil
	case execution.RollbackReady:
		if w.TakenBack, err = o.takenBack(ctx, x); err != nil {
			return w, err
		}
		w.Parent, _, err = o.parent(ctx, x)
		return w, err
	case "", execution.Executing:
		if w.Job, err = o.job(ctx, x); err != nil {
			return w, err
		}
	}
	// A look may take seconds, so gates and decisions are read after it, and its age is told when all is read.
	taken := o.look(ctx, x, &w)
	if err := o.guarded(ctx, x, &w); err != nil {
		return w, err
	}
	if err := o.reservation(ctx, x, &w); err != nil {
		return w, err
	}
	age, known := taken.Age(o.Now())
	w.Look.Fresh = known && taken.Err == nil && age <= freshWithin
	return w, nil
}

// guarded looks at what keeps the execution from being released, until it is.
func (o Execution) guarded(ctx context.Context, x *remediationv1.KubernetesExecution, w *execution.World) (err error) {
	if x.Status.ExecutionResults != nil || w.Job.Sight == presence.Here && !w.Job.Suspended {
		return nil
	}
	parent, of, err := o.parent(ctx, x)
	if err != nil {
		return err
	}
	w.Parent = parent
	if w.Gates, w.Unproven, err = o.Gates.look(ctx, x, of); err != nil {
		return err
	}
	w.Audit, w.Gates.Audit = o.Audit.look(ctx, x)
	if w.Brakes, err = o.Brakes.look(ctx, x); err != nil {
		return err
	}
	if x.Status.Phase == execution.WaitingApproval || x.Status.Phase == execution.Executing {
		w.Decisions, w.SetAside, err = o.Decisions.on(ctx, x)
	}
	return err
}

// look takes a look at the target, as young as the phase needs it. What it returns is not known if none was needed, or if the
// last one was for another object of this name.
func (o Execution) look(ctx context.Context, x *remediationv1.KubernetesExecution, w *execution.World) (taken read.Sample[execution.Look]) {
	key := read.Key{Namespace: x.Namespace, Name: x.Name}
	ours := func(s read.Sample[execution.Look]) bool { return !s.At.IsZero() && s.Value.UID == x.UID }
	sample := o.Looks.Last(key)
	switch age := ageFor(x, w.Job, o.Now()); {
	case age == notAtAll:
		return taken
	case age != whatever || !ours(sample):
		sample = o.Looks.Fresh(ctx, key, min(age, freshWithin))
	}
	if ours(sample) {
		w.Look, taken = sample.Value, sample
	}
	w.Look.Trouble = troubleOf(sample.Err)
	return taken
}

// troubleOf is what a look failed at, in the words that begin the error: the rest of it may be another at every try.
func troubleOf(err error) string {
	if err == nil {
		return ""
	}
	what, _, _ := strings.Cut(err.Error(), ": ")
	return what
}

// How old a look may be.
const (
	notAtAll time.Duration = -1        // none is needed
	whatever               = time.Hour // one that was taken while it waits
)

// ageFor is how old a look may be that an execution is decided by.
func ageFor(x *remediationv1.KubernetesExecution, j execution.Job, now time.Time) time.Duration {
	switch x.Status.Phase {
	case execution.Validated, execution.WaitingApproval:
		return whatever
	case execution.Executing:
		return ageWhileExecuting(x, j, now)
	}
	return freshWithin
}

// ageWhileExecuting: nothing that was seen before the action ended says what it did, and while it runs nothing does. A Job
// that has not ended in time says nothing any more, but the target may.
func ageWhileExecuting(x *remediationv1.KubernetesExecution, j execution.Job, now time.Time) time.Duration {
	released := j.Sight == presence.Here && !j.Suspended
	runs := (released && !j.Over || j.PodRuns) && j.Report == nil && now.Before(execution.KnowBy(x, j, now))
	switch {
	case x.Status.ExecutionResults != nil && len(x.Spec.PostConditions) == 0, runs:
		return notAtAll
	case x.Status.ExecutionResults != nil, released, x.Status.JobUID != "" && j.Sight != presence.Here:
		return 0
	}
	return freshWithin
}

// reservation reads whose the target is. What the request of a step holds is held for the step.
func (o Execution) reservation(ctx context.Context, x *remediationv1.KubernetesExecution, w *execution.World) error {
	target := w.Look.Reserves
	if target.UID == "" {
		target = execution.ReservedRef(x)
	}
	if target.UID == "" || x.Status.Phase == "" || x.Status.Phase == execution.Validating {
		return nil
	}
	held, err := o.Reservations.Of(ctx, target.UID)
	if err != nil {
		return err
	}
	w.Target = held.For(reserve.RefOf(executionKind, x), familyOf(x)...)
	// A mark is on the target itself: any user who may write that can give it another owner.
	own := execution.MarkedRef(x)
	if own.UID == "" || own.UID == target.UID {
		return nil
	}
	marked, err := o.Reservations.Of(ctx, own.UID)
	if err != nil {
		return err
	}
	if marked.Unresolved != nil {
		w.Target.Unresolved = marked.Unresolved
	}
	return nil
}

// ByRollback is the index by which executions are found that take another one back, by its UID.
const ByRollback = "rollbackOf"

// takenBack looks for executions that take this one back. That one says so is not enough: it counts if its checks
// have found that it does.
func (o Execution) takenBack(ctx context.Context, x *remediationv1.KubernetesExecution) (t execution.TakenBack, err error) {
	var list remediationv1.KubernetesExecutionList
	if err := o.Cached.List(ctx, &list, read.InNamespace(x.Namespace), read.Fields{ByRollback: string(x.UID)}); err != nil {
		return t, fmt.Errorf("list executions that take %s back: %w", x.Name, err)
	}
	t.Looked = true
	for i := range list.Items {
		switch by := &list.Items[i]; {
		case by.Status.Plan == nil:
		case hasTakenBack(by):
			t.By = &remediationv1.ExecutionRef{Name: by.Name, UID: by.UID}
		case by.Status.Phase == execution.Executing:
			t.UnderWay = true
		}
	}
	return t, nil
}

// hasTakenBack says that a rollback changed the target as planned, whatever its own postconditions came to.
func hasTakenBack(by *remediationv1.KubernetesExecution) bool {
	r := by.Status.ExecutionResults
	return by.Status.Effect == remediationv1.EffectApplied && r != nil && r.Success
}

// Every is how often the target of an execution is looked at while it waits.
func Every(phase fsm.Phase) time.Duration {
	switch phase {
	case execution.Validated, execution.WaitingApproval:
		return 30 * time.Second
	}
	return 0
}
