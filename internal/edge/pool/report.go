package pool

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The pool's own conditions.
const (
	ReachableCondition   = "FlightControlReachable"
	OrphansHeldCondition = "OrphansHeld"
)

const mostProblems = 32

// report copies what a complete survey has shown. What was not surveyed keeps its figures: they are those of the last one.
func report(out *edgev1.EdgePool, in input, _ fsm.Pass) {
	w := in.World
	if !w.Looked {
		return
	}
	out.Status.Nodes = int32(w.Nodes) //nolint:gosec // a cluster has fewer
	if !w.surveyed() {
		return
	}
	out.Status.Devices, out.Status.Connected = int32(w.Survey.Devices), int32(w.Survey.Connected) //nolint:gosec // it is limited
	out.Status.Orphans = int32(len(w.Orphans))                                                    //nolint:gosec // it is limited
	out.Status.Problems = nil
	for _, p := range w.Problems[:min(len(w.Problems), mostProblems)] {
		out.Status.Problems = append(out.Status.Problems, edgev1.DeviceProblem{Device: p.Device, Reason: fsm.Reason(p.Why)})
	}
}

// conditions say whether Flight Control answers, and whether a person must look at orphans.
func conditions(in input, _ fsm.Decision) (all []metav1.Condition) {
	w := in.World
	if !w.Looked {
		return nil
	}
	c := metav1.Condition{Type: ReachableCondition, Status: metav1.ConditionUnknown, Reason: string(ReasonConnecting), Message: "Flight Control was not asked yet."}
	switch w.Access.State {
	case Answered:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, string(ReasonAnswered), "Flight Control answers."
	case Denied:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(ReasonDenied), denied(w)
	case Unreachable:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(ReasonUnreachable), unreachable(w)
	}
	all = append(all, c)
	if w.surveyed() {
		c := metav1.Condition{Type: OrphansHeldCondition, Status: metav1.ConditionFalse, Reason: string(ReasonNoneHeld), Message: "Nothing waits for a person to be removed."}
		if held(in) {
			c.Status, c.Reason, c.Message = metav1.ConditionTrue, string(ReasonOrphansHeld), sayHeld(in)
		}
		all = append(all, c)
	}
	return all
}
