package perform

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// write is a change that was sent.
type write struct {
	change     action.Change
	version    string // the resourceVersion that it is for
	generation int64  // of the target in that version; 0 if its kind has none
	// settling is how long it is asked what became of the write: it begins when its answer is lost.
	settling context.Context
}

// isDeletion says that the target goes by it. Another one of its name says nothing then of who did it.
func (w *write) isDeletion() bool { return w != nil && w.change.Write == action.DeleteTarget }

// write sends the change. The write is pending before it is sent, and remains so unless its answer says
// that it was not done. It outlives the context: a write that was begun is finished.
func (a *attempt) write(ctx context.Context, target map[string]any) (time.Duration, *action.Report) {
	c := a.command
	change, err := action.Plan(c.Action, target, c.Parameters, c.Execution)
	if err != nil {
		return 0, a.unplanned(err)
	}
	if change.Write == action.DrainTarget {
		if r, may := a.mayBegin(ctx); !may {
			return a.patience.Retry, r
		}
	}
	live := unstructured.Unstructured{Object: target}
	before := a.pending
	a.pending = &write{change: change, version: live.GetResourceVersion(), generation: live.GetGeneration()}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.patience.Write)
	defer cancel()
	stored, warnings, err := a.send(within, *a.pending)
	switch answerOf(err) {
	case taken:
		if change.Write == action.DrainTarget {
			return 0, a.evict(ctx, change, warnings)
		}
		return 0, a.applied(stored, warnings)
	case lost:
		a.last, a.pending.settling = err, outlive(ctx, a.patience.Settle)
		return a.patience.Retry, nil
	case changed:
		a.pending = before
		return a.patience.Conflict, nil
	case refused:
		a.pending = before
		return a.patience.Retry, a.refused(err)
	case busy:
		a.pending, a.last = before, err
	}
	return a.patience.Retry, nil
}

// send sends a change for the very object in the very version that it was made for.
func (a *attempt) send(ctx context.Context, w write) (stored map[string]any, warnings []string, err error) {
	c := a.command
	switch w.change.Write {
	case action.PatchTarget:
		return a.object.Patch(ctx, action.Preconditioned(action.WithToken(w.change.Patch, c.Execution, action.Done), c.Target.UID, w.version))
	case action.DrainTarget: // which evicts nothing before the node says that it has begun
		return a.object.Patch(ctx, action.Preconditioned(action.WithToken(w.change.Patch, c.Execution, action.Started), c.Target.UID, w.version))
	case action.DeleteTarget:
		// What would be lost is a pod with all that it keeps to itself. Another pod of its name has another
		// UID, and one that was changed since it was read has another version.
		warnings, err = a.object.Delete(ctx, Deletion{UID: c.Target.UID, ResourceVersion: w.version, Grace: w.change.Grace})
		return nil, warnings, err
	}
	return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("this version of the program cannot do a write of kind %s", w.change.Write))
}

// unplanned reports a target on which the action cannot be done any more.
func (a *attempt) unplanned(err error) *action.Report {
	if r := (*action.Refusal)(nil); errors.As(err, &r) {
		return a.changed(r.Say)
	}
	return a.failed(err.Error())
}

// settle finds out what became of a pending write from a target that does not bear the token. It
// returns false if that cannot be known.
func (a *attempt) settle(live *unstructured.Unstructured) bool {
	w := a.pending
	switch {
	case w == nil:
	case live.GetResourceVersion() == w.version:
		// It was not done. It may still be: so it is sent again for this very version, of which the
		// API server takes one write only.
	case w.isDeletion():
		// The API server takes no deletion back, so it was not done. It never will be: its version is gone.
		a.pending = nil
	case w.generation != 0 && live.GetGeneration() == w.generation && w.change.Before.Hash != w.change.After.Hash:
		// Others wrote, and not what the patch changes. It never will be done: its version is gone.
		a.pending = nil
	default:
		// Others wrote, perhaps over what the patch had done: to write again might do it twice.
		return false
	}
	return true
}
