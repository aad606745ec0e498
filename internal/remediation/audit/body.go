package audit

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// format is the version of bodies.
const format = 1

// subject is the execution that a record is about, and who asked for it.
type subject struct {
	Format     int                         `json:"format"`
	Kind       Kind                        `json:"kind"`
	Namespace  string                      `json:"namespace"`
	Name       string                      `json:"name"`
	UID        types.UID                   `json:"uid"`
	Created    metav1.Time                 `json:"created"`
	Requester  *person                     `json:"requester,omitempty"`
	Action     string                      `json:"action"`
	Parameters map[string]any              `json:"parameters,omitempty"`
	RollbackOf *remediationv1.ExecutionRef `json:"rollbackOf,omitempty"`
	Parent     *remediationv1.ParentRef    `json:"parent,omitempty"`
}

// planned is what was to be done, by whose word.
type planned struct {
	Digest     string                          `json:"digest"`
	Summary    string                          `json:"summary"`
	Made       *metav1.Time                    `json:"made,omitempty"`
	Target     remediationv1.PlannedTarget     `json:"target"`
	Footprint  string                          `json:"footprint"`
	Definition types.UID                       `json:"definition"`
	Account    string                          `json:"account"`
	Image      string                          `json:"image,omitempty"`
	Policy     remediationv1.PolicyDecision    `json:"policy"`
	Approval   *remediationv1.ApprovalReceived `json:"approval,omitempty"`
}

// intent is what is about to be done.
type intent struct {
	subject
	Plan planned   `json:"plan"`
	Job  types.UID `json:"job"`
}

// outcome is what an execution ended as.
type outcome struct {
	subject
	Target       remediationv1.TargetRef     `json:"target"`
	Plan         *planned                    `json:"plan,omitempty"`
	Job          types.UID                   `json:"job,omitempty"`
	Phase        string                      `json:"phase"`
	Reason       string                      `json:"reason"`
	Message      string                      `json:"message,omitempty"`
	Effect       remediationv1.Effect        `json:"effect"`
	Started      *metav1.Time                `json:"started,omitempty"`
	Ended        *metav1.Time                `json:"ended,omitempty"`
	Completed    *metav1.Time                `json:"completed,omitempty"`
	Affected     int32                       `json:"affected,omitempty"`
	Witnesses    string                      `json:"witnesses,omitempty"`
	After        string                      `json:"after,omitempty"`
	RolledBackBy *remediationv1.ExecutionRef `json:"rolledBackBy,omitempty"`
}

// IntentOf is the body of the intent of an execution whose plan and Job are saved. Nothing that it is made of changes
// after that, so that a try of before is found again.
func IntentOf(x *remediationv1.KubernetesExecution) (string, error) {
	if x.Status.Plan == nil || x.Status.JobUID == "" {
		return "", fmt.Errorf("record the intent of %s: it has no plan, or no Job", x.Name)
	}
	about, err := subjectOf(x, Intent)
	if err != nil {
		return "", err
	}
	return canonical(intent{subject: about, Plan: *planOf(x), Job: x.Status.JobUID})
}

// OutcomeOf is the body of the outcome of an execution that has ended.
func OutcomeOf(x *remediationv1.KubernetesExecution) (string, error) {
	about, err := subjectOf(x, Outcome)
	if err != nil {
		return "", err
	}
	s := x.Status
	o := outcome{
		subject: about, Target: x.Spec.Target, Plan: planOf(x), Job: s.JobUID, Effect: s.Effect,
		Phase: string(s.Phase), Completed: s.CompletionTimestamp, RolledBackBy: s.RolledBackBy,
	}
	if ready := apimeta.FindStatusCondition(s.Conditions, fsm.Ready); ready != nil {
		o.Reason, o.Message = ready.Reason, ready.Message
	}
	if r := s.ExecutionResults; r != nil {
		o.Started, o.Ended, o.Affected, o.Witnesses = r.StartTime, r.EndTime, r.Affected, r.Witnesses
	}
	if s.After != nil {
		o.After = s.After.Hash
	}
	return canonical(o)
}

func subjectOf(x *remediationv1.KubernetesExecution, kind Kind) (subject, error) {
	s := subject{
		Format: format, Kind: kind, Namespace: x.Namespace, Name: x.Name, UID: x.UID, Created: x.CreationTimestamp,
		Requester: personOf(x.Spec.Requester), Action: x.Spec.Action, RollbackOf: x.Spec.RollbackOf, Parent: x.Spec.Parent,
	}
	var err error
	s.Parameters, err = plain(x.Spec.Parameters)
	return s, err
}

func planOf(x *remediationv1.KubernetesExecution) *planned {
	p := x.Status.Plan
	if p == nil {
		return nil
	}
	return &planned{
		Digest: p.Digest, Summary: p.Summary, Made: x.Status.ValidationTime, Target: p.Target, Footprint: p.Footprint,
		Definition: p.Action, Account: p.Account, Image: p.Image, Policy: p.Policy, Approval: x.Status.ApprovalReceived,
	}
}
