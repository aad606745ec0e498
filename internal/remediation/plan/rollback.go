package plan

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// Rollback looks at the execution that this one says it takes back. Every user who makes executions can write that, so it counts only if
// action, parameters and target are those that the other's status gives.
func (d *Draft) Rollback(sight presence.State, original *remediationv1.KubernetesExecution, now time.Time) {
	of := d.x.Spec.RollbackOf
	switch {
	case d.stopped || of == nil:
		return
	case sight == presence.Gone || sight == presence.Other:
		d.refuse(execution.ReasonInvalid, "KubernetesExecution %s, which was to be taken back, does not exist any more.", of.Name)
		return
	case sight != presence.Here:
		d.Wait(execution.ReasonNotLooked, "Waiting for a look at KubernetesExecution %s, which is to be taken back.", of.Name)
		return
	}
	info := original.Status.RollbackInformation
	switch {
	case original.Status.RolledBackBy != nil:
		d.refuse(execution.ReasonInvalid, "KubernetesExecution %s was taken back by %s already.", of.Name, original.Status.RolledBackBy.Name)
	case info == nil || !info.Available:
		d.refuse(execution.ReasonInvalid, "KubernetesExecution %s cannot be taken back: its status has no rollbackInformation.", of.Name)
	case info.RollbackAction != d.x.Spec.Action || !equality.Semantic.DeepEqual(info.RollbackParameters, d.x.Spec.Parameters):
		d.refuse(execution.ReasonInvalid, "Action and parameters are not those that the status of KubernetesExecution %s gives for its rollback.", of.Name)
	default:
		d.original = original
		d.cover(now)
	}
}

// cover finds who approved the rollback together with the action that it takes back. That counts while the
// action can still be taken back in peace: until it is final, or shortly after its postcondition failed.
func (d *Draft) cover(now time.Time) {
	a, s := d.original.Status.ApprovalReceived, d.original.Status
	if a == nil || !a.IncludesRollback || !d.isAsApproved() || d.isAskedBy(a.Approver) {
		return
	}
	recent := now.Before(s.Since.Add(time.Duration(d.original.Spec.FinalizeAfterSeconds) * time.Second))
	failed := s.Phase == execution.Failed && s.Reason == execution.ReasonPostconditionFailed && recent
	if s.Phase == execution.RollbackReady || failed {
		d.covered = a.Approver
	}
}

// Covered says that so far an approval covers the rollback.
func (d *Draft) Covered() bool { return d.covered != "" }

// TakenBackBy looks at executions that take the same one back: an approval of an action with its rollback covers one rollback, and
// not another one after somebody has done the action again.
func (d *Draft) TakenBackBy(all []remediationv1.KubernetesExecution) {
	for i := range all {
		if other := &all[i]; d.covered != "" && other.UID != d.x.UID && isOf(other, d.original) && mayHaveChanged(other) {
			d.covered = ""
		}
	}
}

func isOf(x, original *remediationv1.KubernetesExecution) bool {
	return x.Spec.RollbackOf != nil && x.Spec.RollbackOf.UID == original.UID
}

// mayHaveChanged says that an execution was carried out, or may be at any moment.
func mayHaveChanged(x *remediationv1.KubernetesExecution) bool {
	switch x.Status.Effect {
	case remediationv1.EffectStarted, remediationv1.EffectApplied, remediationv1.EffectUnknown:
		return true
	}
	return false
}

// isAskedBy says that a user asks for the rollback, or may: no user approves what that user asks for, not even beforehand.
// Whether the user may act as a ServiceAccount was looked at for the one that asked for the original, and for no other.
func (d *Draft) isAskedBy(user string) bool {
	who, was := d.x.Spec.Requester, d.original.Spec.Requester
	if who == nil {
		return false
	}
	other := was == nil || was.Username != who.Username
	return who.Username == user || other && strings.HasPrefix(who.Username, "system:serviceaccount:")
}

// isAsApproved says that the action that takes the original back is defined as it was when that was approved: another
// action may have its name by now.
func (d *Draft) isAsApproved() bool {
	was := d.original.Status.Plan
	return was != nil && was.Inverse != nil && was.Inverse.Definition == d.definition.UID
}

// takesBack sees that the target is the one that the original changed, and that it is as that one left it.
func (d *Draft) takesBack() {
	if d.original == nil || d.stopped {
		return
	}
	if uid := metadata(d.object).UID; uid != d.original.Status.RollbackInformation.Target {
		d.refuse(execution.ReasonTargetChanged, "%s %s was made anew since KubernetesExecution %s changed it.", d.kind.Kind, d.x.Spec.Target.Name, d.original.Name)
		return
	}
	if after := d.original.Status.After; d.covered == "" || after == nil || after.Hash != d.change.Before.Hash {
		d.covered = ""
	}
}
