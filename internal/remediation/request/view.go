package request

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// What observers must know of a request to read what its World needs, and no more.

// Gates are those of executions.
type Gates = execution.Gates

// IsLost says that the status was lost after the request had begun: all its executions are read.
func IsLost(rr *remediationv1.RemediationRequest) bool { return isLost(input{Obj: rr}) }

// HasForgotten says that the status was lost after the request had begun, also before the machine has noticed.
func HasForgotten(rr *remediationv1.RemediationRequest) bool {
	return IsLost(rr) || rr.Status.Phase == "" && rr.Annotations[remediationv1.BegunAnnotation] == string(rr.UID)
}

// UnderWay is the name of the execution that exists, or may exist, and has not ended.
func UnderWay(rr *remediationv1.RemediationRequest) (name string, is bool) {
	l, is := underWay(rr)
	return l.run.childName(), is
}

// MayBegin says that a step may begin in the next pass: only then gates and reservations matter. One whose execution is
// named has begun; what follows when its end is saved is decided in a pass of its own.
func MayBegin(rr *remediationv1.RemediationRequest) bool {
	l, is := underWay(rr)
	return !is || l.run.EndedAt != nil || l.run.childUID() == ""
}

// Executions are all executions that are named in the status.
func Executions(rr *remediationv1.RemediationRequest) (all []remediationv1.ChildRef) {
	for _, s := range rr.Status.Steps {
		for _, undo := range []bool{false, true} {
			if r := runOf(&s, undo); r != nil && r.Execution != nil && r.Execution.UID != "" {
				all = append(all, *r.Execution)
			}
		}
	}
	return all
}

// Standing are the executions of steps that changed their target, and of which it is not saved that they were taken back.
func Standing(rr *remediationv1.RemediationRequest) (all []remediationv1.ChildRef) {
	for i := range rr.Status.Steps {
		if s := &rr.Status.Steps[i]; stands(s) && s.Execution != nil && s.Execution.UID != "" {
			all = append(all, *s.Execution)
		}
	}
	return all
}

// Targets are what is reserved for the request.
func Targets(rr *remediationv1.RemediationRequest) (refs []reserve.Ref) {
	for _, t := range rr.Status.Targets {
		refs = append(refs, refOf(t))
	}
	return refs
}

// Preview is the execution of a step before it has begun. It is never made.
func Preview(rr *remediationv1.RemediationRequest, s remediationv1.RemediationStep) *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: rr.Namespace, Name: ChildName(rr.UID, rr.Name, s.Name, 1, false)},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: s.Action, Target: s.Target, Parameters: s.Parameters, Requester: rr.Spec.Requester,
		},
	}
}

// HasUnknown says that it is unknown what an execution of the request did: a person must look.
func HasUnknown(rr *remediationv1.RemediationRequest) bool {
	for i := range rr.Status.Steps {
		for _, undo := range []bool{false, true} {
			if r := runOf(&rr.Status.Steps[i], undo); r != nil && r.Effect == remediationv1.EffectUnknown {
				return true
			}
		}
	}
	return false
}
