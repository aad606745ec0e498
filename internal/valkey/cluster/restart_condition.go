package cluster

import (
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// restartCondition says that servers were started by an earlier version of the operator, and what their restart waits for.
func restartCondition(in input) (metav1.Condition, bool) {
	c := metav1.Condition{Type: valkeyv1.RestartPending, Status: metav1.ConditionFalse, Reason: string(ReasonUpToDate),
		Message: "The servers run with what this version of the operator makes of the spec."}
	r, pending := pendingRestart(in)
	if !pending {
		return c, apimeta.FindStatusCondition(in.Obj.Status.Conditions, valkeyv1.RestartPending) != nil
	}
	c.Status, c.Reason = metav1.ConditionTrue, string(r.reason)
	c.Message = "The servers run with what an earlier version of the operator made of the same spec. " + r.words
	if slices.Contains([]fsm.Reason{ReasonOutsideWindow, ReasonAwaitingTurn, ReasonRestartsStopped}, r.reason) {
		c.Message += " To restart them now, create a ValkeyUpgrade without spec.image."
	}
	return c, true
}

// WaitsSince is since when the restart of a cluster waits for those of others; zero is that it does not.
func WaitsSince(c *valkeyv1.ValkeyCluster) time.Time {
	is := apimeta.FindStatusCondition(c.Status.Conditions, valkeyv1.RestartPending)
	if is == nil || is.Status != metav1.ConditionTrue || !slices.Contains([]string{string(ReasonAwaitingTurn), string(ReasonRestartsStopped)}, is.Reason) {
		return time.Time{}
	}
	return is.LastTransitionTime.Time
}
