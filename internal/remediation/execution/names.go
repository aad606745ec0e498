package execution

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// JobName is the name of the Job of an execution.
func JobName(uid types.UID) string {
	sum := sha256.Sum256([]byte(uid))
	return remediationv1.JobPrefix + hex.EncodeToString(sum[:8])
}

// TargetRef names the target of an execution that has a plan, for its reservation.
func TargetRef(x *remediationv1.KubernetesExecution) reserve.Ref {
	t := x.Status.Plan.Target
	kind := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind).GroupKind()
	ref := reserve.Ref{Kind: kind.Kind + "." + kind.Group, Namespace: x.Namespace, Name: t.Name, UID: t.UID}
	if x.Namespace == remediationv1.NodesNamespace {
		ref.Namespace = ""
	}
	return ref
}

// ReservedTarget is what is reserved, as a status has it; nil is nothing.
func ReservedTarget(r reserve.Ref) *remediationv1.ReservedTarget {
	if r.UID == "" {
		return nil
	}
	return &remediationv1.ReservedTarget{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

// ReservedRef is what is reserved for an execution that is not looked at: what it saved, or the target, as it was planned.
func ReservedRef(x *remediationv1.KubernetesExecution) reserve.Ref {
	switch r := x.Status.Reserved; {
	case r != nil:
		return reserve.Ref{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
	case x.Status.Plan != nil:
		return TargetRef(x)
	}
	return reserve.Ref{}
}

// MarkedRef is what bears the mark of an execution whose outcome is unknown: the target itself, and what was reserved for it only
// if nothing tells any more which object that was.
func MarkedRef(x *remediationv1.KubernetesExecution) reserve.Ref {
	if x.Status.Plan != nil {
		return TargetRef(x)
	}
	return ReservedRef(x)
}

// DefinitionAccount is the name of the account of an action, and of its role.
func DefinitionAccount(action string) string {
	return remediationv1.AccountPrefix + remediationv1.DefinitionOf(action)
}
