package request

import (
	"fmt"
	"slices"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// result is what one try of a step came to. Only a failure has a reason.
type result struct {
	effect   remediationv1.Effect
	reason   fsm.Reason
	message  string
	rollback *remediationv1.RollbackInformation
}

// resultOf is what the try that is under way came to, if that is known.
func resultOf(in step, l lane) (result, bool) {
	if !in.World.Children.Looked {
		return result{}, false
	}
	child, is := in.World.child(l.run.childName())
	if l.run.childUID() == "" {
		return neverMade(in, l, child, is)
	}
	switch {
	case !is, child.Sight != presence.Here, child.UID != l.run.childUID():
		return result{remediationv1.EffectUnknown, ReasonOutcomeUnknown, fmt.Sprintf("KubernetesExecution %s of step %s was deleted before its end was saved, "+
			"so it is unknown what it did: look at %s %s.", l.run.childName(), l.name(), l.step.Target.Kind, l.step.Target.Name), nil}, true
	case !child.over():
		return result{}, false
	}
	return ended(l, child), true
}

// neverMade is the result of a try whose execution was never named in the status: it did nothing, because it waits for that.
func neverMade(in step, l lane, child Child, is bool) (result, bool) {
	none := func(reason fsm.Reason, format string, args ...any) (result, bool) {
		return result{remediationv1.EffectNone, reason, fmt.Sprintf(format, args...), nil}, true
	}
	switch {
	case is && child.Sight != presence.Here:
		return none(ReasonNameTaken, "Another KubernetesExecution has the name %s, which that of step %s was to have: its owner must delete it.", child.Name, l.name())
	case is: // it is saved first, and then it is cancelled like any other
		return result{}, false
	case isCancelled(in.Input):
		return none(ReasonCancelled, "%s before the execution of step %s was made.", cancelled(in.Input), l.name())
	case isLate(in.Input):
		return none(ReasonDeadline, "%s", strings.TrimSpace("The execution of step "+l.name()+" could not be made in time. "+in.Obj.Status.WaitingFor))
	}
	return result{}, false
}

func ended(l lane, c Child) result {
	r := result{effect: c.Effect, message: c.Message, rollback: c.Rollback}
	if r.message == "" {
		r.message = fmt.Sprintf("KubernetesExecution %s of step %s has ended.", c.Name, l.name())
	}
	if c.succeeded() {
		return r
	}
	if r.reason = c.Reason; r.reason == "" {
		r.reason = ReasonFailed
	}
	switch {
	case r.reason == execution.ReasonRolledBack: // by an execution of another, so it does not stand
		r.effect = remediationv1.EffectNotApplied
	case r.effect == "" || r.effect == remediationv1.EffectStarted:
		r.effect = remediationv1.EffectUnknown
	}
	return r
}

// mendable are reasons with which a try failed that another one may mend.
var mendable = []fsm.Reason{
	execution.ReasonExecutionFailed, execution.ReasonExecutionTimeout, execution.ReasonTargetChanged, execution.ReasonDryRunFailed,
	execution.ReasonPreconditionFailed, fsm.Reason(execution.StartTimeout), execution.ReasonStatusLost,
}

// undoRetries is how often taking a step back is tried again.
const undoRetries = 2

// mayTryAgain says that a try failed without an effect, for a reason that another one may mend, and that one is left.
func mayTryAgain(in input, l lane) bool {
	tries := l.step.MaxRetries
	if l.undo {
		tries = undoRetries
	}
	harmless := l.run.Effect != "" && isHarmless(l.run.Effect)
	return harmless && l.run.Attempt <= tries && slices.Contains(mendable, l.run.Reason) && !isOver(in)
}
