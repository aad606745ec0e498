package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Reasons for which Ready is Unknown because the manager does not act upon the object.
const (
	ReasonUnknownPhase fsm.Reason = "UnknownPhase" // this version of the manager does not have the object's phase
	ReasonMoveRefused  fsm.Reason = "MoveRefused"  // the machine decided for what its table does not declare, or does not have the phase of a lane
)

// refuse ends a pass whose step was refused. Nothing is decided about the object, so what Ready
// said has no evidence any more. A one-shot says nothing: what it ended with stays true.
func (r *Reconciler[T, W]) refuse(ctx context.Context, key read.Key, in fsm.Input[T, W], cause error) (time.Duration, error) {
	r.Trace.refused(in.Obj, cause)
	// The same object refuses the same way; only a change of either helps.
	refused := reconcile.TerminalError(fmt.Errorf("step: %w", cause))
	if r.Machine.OneShot {
		return fsm.Never, refused
	}
	reason, message := ReasonMoveRefused, "The manager refuses to act: "+cause.Error()+". Report it with the object and the manager's log."
	if phase := in.Obj.GetProgress().Phase; !r.knows(in.Obj) {
		reason = ReasonUnknownPhase
		message = fmt.Sprintf("The manager does not know phase %s, so it changes nothing; install the version of the manager that wrote it, or remove status.phase.", phase)
	}
	next := r.notKnown(in, reason, message)
	if !equality.Semantic.DeepEqual(in.Obj, next) {
		if err := r.Store.Save(ctx, in.Obj, next); err != nil {
			return r.notSaved(key, err)
		}
	}
	r.Trace.at(key, next.GetProgress())
	return fsm.Never, refused
}
