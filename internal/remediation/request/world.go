package request

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// World is what a request may look at.
type World struct {
	// Begun says that the request bears the mark that precedes its first execution.
	Begun bool `json:"begun,omitempty"`
	// Unproven says why the identity of its requester is not proven; "" is that it is.
	Unproven string `json:"unproven,omitempty"`
	// Gates are what keeps the next step from beginning, in words; that all executions are suspended is their own affair.
	Gates execution.Gates `json:"gates,omitzero"`
	// Looks are one look at each step, in order, before the targets are saved.
	Looks []StepLook `json:"looks,omitempty"`
	// Targets are the reservations of the targets that are saved, while the next step may begin.
	Targets  []Target `json:"targets,omitempty"`
	Children Children `json:"children,omitzero"`
}

// StepLook is a look at what a step needs: its action, the rights of the requester, the action's account, and its target.
type StepLook struct {
	// Outcome is Waiting, Refused, or Planned, which here says no more than that the target was found.
	Outcome execution.Outcome `json:"outcome,omitempty"`
	Reason  fsm.Reason        `json:"reason,omitempty"`
	Message string            `json:"message,omitempty"`
	// NeedsAccount says that the account of the action must be made.
	NeedsAccount bool `json:"needsAccount,omitempty"`
	// Reserves is what is reserved for the target: itself, or the owner that manages it.
	Reserves reserve.Ref `json:"reserves,omitzero"`
}

// Target is the reservation of one target.
type Target struct {
	UID types.UID `json:"uid"`
	reserve.Fact
}

// Children are executions of the request, from live reads.
type Children struct {
	// Looked says that all that matter in this phase were read: one that is not in the list does not exist.
	Looked bool    `json:"looked,omitempty"`
	List   []Child `json:"list,omitempty"`
}

// Child is one execution of the request, or what else has its name.
type Child struct {
	Name            string         `json:"name"`
	Sight           presence.State `json:"sight"` // Other: it is not what the request asks for
	UID             types.UID      `json:"uid,omitempty"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	// Step, Attempt and Undo say for which try it was made.
	Step    string `json:"step,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
	Undo    bool   `json:"undo,omitempty"`
	// Cancelled says that spec.cancel is set.
	Cancelled bool                               `json:"cancelled,omitempty"`
	Phase     fsm.Phase                          `json:"phase,omitempty"`
	Effect    remediationv1.Effect               `json:"effect,omitempty"`
	Reason    fsm.Reason                         `json:"reason,omitempty"`
	Message   string                             `json:"message,omitempty"`
	Awaits    string                             `json:"awaits,omitempty"` // its waitingFor
	Rollback  *remediationv1.RollbackInformation `json:"rollback,omitempty"`
	// TakenBackBy is the execution that took it back, by its UID.
	TakenBackBy types.UID `json:"takenBackBy,omitempty"`
}

// over says that the execution will not change its target any more, unless another execution takes it back.
func (c Child) over() bool {
	return c.Phase == execution.RollbackReady || c.Phase == execution.Completed || c.Phase == execution.Failed
}

// succeeded says that it did what was asked for, and that this stands.
func (c Child) succeeded() bool {
	done := c.Phase == execution.RollbackReady || c.Phase == execution.Completed
	return done && c.Effect == remediationv1.EffectApplied
}

func (w World) child(name string) (Child, bool) {
	i := slices.IndexFunc(w.Children.List, func(c Child) bool { return c.Name == name })
	if i < 0 {
		return Child{}, false
	}
	return w.Children.List[i], true
}

func (w World) target(uid types.UID) reserve.Fact {
	for _, t := range w.Targets {
		if t.UID == uid {
			return t.Fact
		}
	}
	return reserve.Fact{}
}
