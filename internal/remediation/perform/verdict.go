package perform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// judge ends the action if the target shows that it is done, or that it must not be. A target with
// another UID says nothing of the one that was approved, whatever its token.
func (a *attempt) judge(target map[string]any) *action.Report {
	live := &unstructured.Unstructured{Object: target}
	switch {
	case live.GetUID() != a.command.Target.UID:
		return a.changed(fmt.Sprintf("%s was deleted after it was approved, and another one has its name.", a.target()))
	case action.ReadToken(target, a.command.Execution) == action.Done && a.isUntouched(target):
		return &action.Report{Effect: remediationv1.EffectUnknown, Error: fmt.Sprintf("%s bears the token of this execution, and what the action changes "+
			"is as it was when it was approved: another client wrote the token, or took the change back; this run did nothing.", a.target())}
	case action.ReadToken(target, a.command.Execution) == action.Done:
		return a.proven(target)
	case a.pending == nil && action.ReadToken(target, a.command.Execution) == action.Started:
		return &action.Report{Effect: remediationv1.EffectUnknown, Error: "An earlier run of this execution began the action, and how far it came is not known; this run did nothing."}
	case a.pending.isDeletion() && live.GetDeletionTimestamp() != nil: // a pod does not say who deleted it
		return a.unknown("it is being deleted, and perhaps by another client")
	case !a.settle(live):
		return a.unknown("others have written the target since, and it does not bear the token of the execution")
	}
	is, err := action.ReadOf(a.command.Action, target, a.command.Parameters)
	switch {
	case err != nil:
		return a.unplanned(err)
	case is.Hash != a.command.Footprint:
		return a.changed(fmt.Sprintf("%s was changed after it was approved, in the fields that the action works on.", a.target()))
	}
	return nil
}

// isUntouched says that this run wrote nothing, and that the target is as it was approved although the action would change
// it: any user who may write the target can put a token there.
func (a *attempt) isUntouched(target map[string]any) bool {
	is, err := action.ReadOf(a.command.Action, target, a.command.Parameters)
	if a.pending != nil || err != nil || is.Hash != a.command.Footprint {
		return false
	}
	change, err := action.Plan(a.command.Action, target, a.command.Parameters, a.command.Execution)
	return err != nil || change.After.Hash != is.Hash
}

// unread reports that the target cannot be read, unless it may be later.
func (a *attempt) unread(err error) *action.Report {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsGone(err):
		return a.changed(a.target() + " is gone.")
	case answerOf(err) == refused:
		return a.refused(err)
	}
	a.last = err
	return nil
}

// applied reports what the API server stored.
func (a *attempt) applied(stored map[string]any, warnings []string) *action.Report {
	r := a.done(a.pending)
	r.Warnings = warnings
	if a.pending.isDeletion() {
		return r
	}
	after, err := action.ReadOf(a.command.Action, stored, a.command.Parameters)
	if err != nil || after.Hash != a.pending.change.After.Hash {
		r.Warnings = append(r.Warnings, "The API server stored something else than was planned: an admission webhook or policy changed it.")
	}
	if err == nil {
		r.After = after.Hash
	}
	return r
}

// proven reports a target that bears the token. Others may have written it since, so the hash is known
// only if it is that of the plan.
func (a *attempt) proven(target map[string]any) *action.Report {
	r := a.done(a.pending)
	r.Warnings = []string{"The answer to the write was lost: the token on the target shows that it was done."}
	is, err := action.ReadOf(a.command.Action, target, a.command.Parameters)
	if err == nil && a.pending != nil && is.Hash == a.pending.change.After.Hash {
		r.After = is.Hash
	}
	return r
}

func (a *attempt) done(w *write) *action.Report {
	o := remediationv1.ResourceAffected{
		Kind: a.command.Target.Kind, Namespace: a.command.Target.Namespace, Name: a.command.Target.Name, Action: "patched",
	}
	token := action.Token(a.command.Execution, action.Done)
	if w.isDeletion() {
		o.Action, token = "deleted", ""
	}
	if w != nil {
		var before, after []string
		for _, f := range w.change.Fields {
			before, after = append(before, shown(f.Path, f.From)), append(after, shown(f.Path, f.To))
		}
		o.Before, o.After = strings.Join(before, ", "), strings.Join(after, ", ")
	}
	return &action.Report{
		Effect: remediationv1.EffectApplied, Token: token,
		Affected: 1, Resources: []remediationv1.ResourceAffected{o},
	}
}

func shown(path, value string) string {
	if value == "" {
		return path + " is absent"
	}
	return path + " is " + value
}

// changed ends an action whose target is not what was approved. While a write is pending that is no
// proof: it may have been done before the change.
func (a *attempt) changed(say string) *action.Report {
	if a.pending != nil {
		return a.unknown("since then: " + say)
	}
	return &action.Report{Effect: remediationv1.EffectNotApplied, Reason: action.ReasonTargetChanged, Error: say}
}

// refused ends an action that the API server does not allow, unless an earlier write is pending: then
// only the target can tell.
func (a *attempt) refused(err error) *action.Report {
	if a.last = err; a.pending != nil {
		return nil
	}
	return a.failed("The API server refuses it: " + err.Error())
}

// ended is the report when the time is over, or the program was told to stop.
func (a *attempt) ended(ctx context.Context) *action.Report {
	why, reason := "it was told to stop", action.ReasonFailed
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why, reason = fmt.Sprintf("its %s were over", a.command.Timeout), action.ReasonTimeout
	}
	if a.last != nil {
		why += "; the last answer was: " + a.last.Error()
	}
	if a.pending != nil {
		return a.unknown(why)
	}
	say := fmt.Sprintf("The action had not written %s when %s", a.target(), why)
	return &action.Report{Effect: remediationv1.EffectNotApplied, Reason: reason, Error: say}
}

// unknown says that the outcome of a write is not known, so that the manager does not take it for NotApplied.
func (a *attempt) unknown(why string) *action.Report {
	did := "wrote"
	if a.pending.isDeletion() {
		did = "deleted"
	}
	say := fmt.Sprintf("The action %s %s, and the answer was lost: %s", did, a.target(), why)
	return &action.Report{Effect: remediationv1.EffectUnknown, Error: say}
}

func (a *attempt) failed(say string) *action.Report {
	return &action.Report{Effect: remediationv1.EffectNotApplied, Reason: action.ReasonFailed, Error: say}
}

func (a *attempt) target() string { return a.command.Target.Kind + " " + a.command.Target.Name }
