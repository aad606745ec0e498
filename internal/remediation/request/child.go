package request

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

const (
	longestName = 63
	// finalizeAfterSeconds is the default of the schema. The children of a living request do not count it, but what is
	// asked for must equal what the API server stores.
	finalizeAfterSeconds = 300
)

// ChildName is the name of the execution for one try of a step. Another try, another step, or another request by the
// same name has another.
func ChildName(uid types.UID, requestName, step string, attempt int32, undo bool) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d/%t", uid, step, attempt, undo))
	suffix := "-" + hex.EncodeToString(sum[:5])
	if most := longestName - len(suffix); len(requestName) > most {
		requestName = requestName[:most]
	}
	return strings.TrimRight(requestName, "-.") + suffix
}

// ChildSpec is the spec of the execution for one try of a step, from the immutable spec and the saved status of its
// request. It is false if the request does not ask for that try: the step, or its undoing, was never begun, or is at
// another try by now.
func ChildSpec(rr *remediationv1.RemediationRequest, step string, attempt int32, undo bool) (remediationv1.KubernetesExecutionSpec, bool) {
	wanted, status := stepOf(rr, step), statusOf(rr, step)
	if wanted == nil || status == nil {
		return remediationv1.KubernetesExecutionSpec{}, false
	}
	run := runOf(status, undo)
	if run == nil || attempt < 1 || run.Attempt != attempt {
		return remediationv1.KubernetesExecutionSpec{}, false
	}
	spec := remediationv1.KubernetesExecutionSpec{
		Action: wanted.Action, Target: wanted.Target, Parameters: wanted.Parameters,
		PreConditions: wanted.PreConditions, PostConditions: wanted.PostConditions,
		TimeoutSeconds: wanted.TimeoutSeconds, ApprovalTimeoutSeconds: wanted.ApprovalTimeoutSeconds,
		StartDeadlineSeconds: wanted.StartDeadlineSeconds, FinalizeAfterSeconds: finalizeAfterSeconds,
		Requester: rr.Spec.Requester,
		Parent:    &remediationv1.ParentRef{Name: rr.Name, UID: rr.UID, Step: step, Attempt: attempt, Undo: undo},
	}
	if undo && !takesBack(&spec, status) {
		return remediationv1.KubernetesExecutionSpec{}, false
	}
	return *spec.DeepCopy(), true
}

// takesBack makes a spec that of the rollback of a step. The conditions of the step are those of carrying it out.
func takesBack(spec *remediationv1.KubernetesExecutionSpec, s *remediationv1.StepStatus) bool {
	back := s.RollbackInformation
	if back == nil || !back.Available || s.Execution == nil || s.Execution.UID == "" {
		return false
	}
	spec.Action, spec.Parameters = back.RollbackAction, back.RollbackParameters
	spec.PreConditions, spec.PostConditions = nil, nil
	spec.RollbackOf = &remediationv1.ExecutionRef{Name: s.Execution.Name, UID: s.Execution.UID}
	return true
}

// Asks says that a request asks for this execution: it says the same in every field but cancel, its requester included.
func Asks(rr *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) bool {
	ref := x.Spec.Parent
	if ref == nil || ref.UID != rr.UID || x.Name != ChildName(rr.UID, rr.Name, ref.Step, ref.Attempt, ref.Undo) {
		return false
	}
	want, asks := ChildSpec(rr, ref.Step, ref.Attempt, ref.Undo)
	return asks && sameSpec(want, x.Spec)
}

// Named says that a request has saved that this very execution carries out the present try of its step.
func Named(rr *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) bool {
	ref := x.Spec.Parent
	if ref == nil || ref.UID != rr.UID {
		return false
	}
	status := statusOf(rr, ref.Step)
	if status == nil {
		return false
	}
	run := runOf(status, ref.Undo)
	return run != nil && run.Execution != nil && run.Execution.UID == x.UID && x.UID != ""
}

// Ended says that nothing will ever be done about a request again.
func Ended(rr *remediationv1.RemediationRequest) bool {
	switch rr.Status.Phase {
	case Completed, RolledBack, Failed:
		return true
	}
	return false
}

func stepOf(rr *remediationv1.RemediationRequest, name string) *remediationv1.RemediationStep {
	i := slices.IndexFunc(rr.Spec.Steps, func(s remediationv1.RemediationStep) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &rr.Spec.Steps[i]
}

func statusOf(rr *remediationv1.RemediationRequest, name string) *remediationv1.StepStatus {
	i := slices.IndexFunc(rr.Status.Steps, func(s remediationv1.StepStatus) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &rr.Status.Steps[i]
}

func runOf(s *remediationv1.StepStatus, undo bool) *remediationv1.StepRun {
	if undo {
		return s.Undo
	}
	return &s.StepRun
}
