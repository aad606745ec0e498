package execution

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// World is what an execution may look at.
type World struct {
	// Begun says that the execution bears the mark that precedes its Job.
	Begun bool `json:"begun,omitempty"`
	// Unproven says why the identity of its requester is not proven; "" is that it is.
	Unproven string `json:"unproven,omitempty"`
	// Parent is the request of which it is a step, if it is one.
	Parent Parent `json:"parent,omitzero"`
	// Gates are what keeps any execution from being released.
	Gates Gates `json:"gates,omitzero"`
	// Audit is the record of its intent in the audit database.
	Audit Audit `json:"audit,omitzero"`
	// Brakes keep it from being released for some time, because of what other executions did.
	Brakes brake.Brakes `json:"brakes,omitzero"`
	Look   Look         `json:"look,omitzero"`
	// Target is the reservation of the target.
	Target reserve.Fact `json:"target,omitzero"`
	// Decisions are those of persons on this execution whose identity and rights were looked at.
	Decisions []Decision `json:"decisions,omitempty"`
	// SetAside are decisions on this execution that do not count, whatever its plan is.
	SetAside []SetAside `json:"setAside,omitempty"`
	Job      Job        `json:"job,omitzero"`
	// TakenBack is what became of executions that take this one back.
	TakenBack TakenBack `json:"takenBack,omitzero"`
}

// Parent is the RemediationRequest of which an execution is a step, from a live read.
type Parent struct {
	Sight presence.State `json:"sight,omitempty"` // Other: another request has its name
	// Over says that it has ended, Cancelled that its owner wants it to end.
	Over      bool `json:"over,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
	// Deleted says that it was deleted: it stays until what depends on it is gone, or is orphaned.
	Deleted bool `json:"deleted,omitempty"`
	// Agrees says that it asks for an execution that says the same in every field, its requester included.
	Agrees bool `json:"agrees,omitempty"`
	// Forgot says that its status was lost after it had begun, so that it asks for nothing any more.
	Forgot bool `json:"forgot,omitempty"`
	// Named says that it has saved the UID of this very execution.
	Named bool `json:"named,omitempty"`
}

// Gates are what keeps any execution from being released, each in words; "" is open.
type Gates struct {
	Policies  string `json:"policies,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Suspended string `json:"suspended,omitempty"`
	Audit     string `json:"audit,omitempty"`
}

// Outcome is what a look at everything that a plan depends on came to; "" is not looked.
type Outcome string

// What a look comes to.
const (
	Waiting  Outcome = "Waiting"  // something is not known yet, or not there yet
	Refused  Outcome = "Refused"  // it may not be carried out
	DryFails Outcome = "DryFails" // the API server refuses the change
	Planned  Outcome = "Planned"  // it may be carried out as planned
)

// Look is a look at the target with the rights of the action, and at all that must allow it.
type Look struct {
	// UID is that of the execution: another may have its name by now.
	UID     types.UID `json:"uid,omitempty"`
	Outcome Outcome   `json:"outcome,omitempty"`
	// Fresh says that it is young enough to act upon.
	Fresh bool `json:"fresh,omitempty"`
	// Trouble says what a look fails at that is needed and does not succeed, as a verb; "" is nothing.
	Trouble string `json:"trouble,omitempty"`
	// Reason and Message say why the outcome is not Planned. The reason of a refusal is the one with
	// which an execution ends that had passed its checks before.
	Reason  fsm.Reason `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	// NeedsAccount says that the account of the action must be made.
	NeedsAccount bool `json:"needsAccount,omitempty"`
	// Plan is what would be done now.
	Plan *remediationv1.Plan `json:"plan,omitempty"`
	// Covered names who approved the rollback together with the action that it takes back; "" is that no approval does.
	Covered string `json:"covered,omitempty"`
	// Validation is what the checks came to, the conditions among them.
	Validation *remediationv1.ValidationResults `json:"validation,omitempty"`
	// State is the state of the target as it is now.
	State *remediationv1.Footprint `json:"state,omitempty"`
	// Token says that the target bears the token of this execution.
	Token bool `json:"token,omitempty"`
	// Reserves is what is reserved for the target: itself, or the owner that manages it.
	Reserves reserve.Ref `json:"reserves,omitzero"`
}

// Decision is one decision of a person.
type Decision struct {
	Name  string `json:"name"`
	By    string `json:"by"`
	Token string `json:"token,omitempty"`
	// Rejects says no.
	Rejects          bool      `json:"rejects,omitempty"`
	At               time.Time `json:"at"`
	Until            time.Time `json:"until,omitzero"`
	IncludesRollback bool      `json:"includesRollback,omitempty"`
}

// SetAside is a decision that does not count, because it is not proven who made it, or because its author may not decide.
type SetAside struct {
	Name string    `json:"name"`
	By   string    `json:"by"`
	Why  string    `json:"why"` // completes a sentence
	At   time.Time `json:"at"`
}

// Job is the Job of the execution, from a live read.
type Job struct {
	Sight           presence.State `json:"sight,omitempty"` // Other: an object that is not ours has its name
	UID             types.UID      `json:"uid,omitempty"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	// Suspended says that it was not released: it has no pod and never had one.
	Suspended bool `json:"suspended,omitempty"`
	// StartedAt is when it was released.
	StartedAt metav1.Time `json:"startedAt,omitzero"`
	// Over says that no pod of it runs or will; Succeeded, TimedOut and Why say how it ended.
	Over      bool   `json:"over,omitempty"`
	Succeeded bool   `json:"succeeded,omitempty"`
	TimedOut  bool   `json:"timedOut,omitempty"`
	Why       string `json:"why,omitempty"`
	// Pods says that pods of it are there, even if it is gone.
	Pods bool `json:"pods,omitempty"`
	// PodRuns says that one of them has not ended: it may still change the target, even if the Job is gone.
	PodRuns bool `json:"podRuns,omitempty"`
	// NeverStarted says that no container of it ever ran, by the word of its kubelet.
	NeverStarted bool `json:"neverStarted,omitempty"`
	// Report is what the action said as it ended; nil if it said nothing.
	Report *Report `json:"report,omitempty"`
}

// Report is what an action said as it ended.
type Report struct {
	Effect    remediationv1.Effect             `json:"effect"` // Applied, NotApplied or Unknown
	Reason    fsm.Reason                       `json:"reason,omitempty"`
	Message   string                           `json:"message,omitempty"`
	Warnings  []string                         `json:"warnings,omitempty"`
	Affected  int32                            `json:"affected,omitempty"`
	Resources []remediationv1.ResourceAffected `json:"resources,omitempty"`
	// After is the hash of the footprint as the action left it.
	After string `json:"after,omitempty"`
}

// TakenBack is what became of executions that take another back.
type TakenBack struct {
	Looked bool `json:"looked,omitempty"`
	// By is the one that did it.
	By *remediationv1.ExecutionRef `json:"by,omitempty"`
	// UnderWay says that one is about to.
	UnderWay bool `json:"underWay,omitempty"`
}
