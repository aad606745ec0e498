package cluster

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Ready says that the spec is reached, so that kubectl wait and kstatus wait for an edit. Available says that
// every slot is served, whatever is being changed: that is what a person is woken for.

// conditions are Available, Progressing and Degraded, whose reason is the phase, and those of Ready and Stalled
// that the phase does not tell.
func conditions(in input, d fsm.Decision) []metav1.Condition {
	phase := in.Obj.Status.Phase
	own := []metav1.Condition{availableCondition(in), progressingCondition(phase), degradedCondition(phase, d)}
	for i := range own {
		own[i].Reason = string(phase)
	}
	for _, of := range []func(input) (metav1.Condition, bool){accessCondition, settingsCondition, restartCondition} {
		if c, has := of(in); has {
			own = append(own, c)
		}
	}
	if reason, why := unreached(in, d); reason != "" {
		own = append(own, metav1.Condition{Type: fsm.Ready, Status: metav1.ConditionFalse, Reason: string(reason), Message: why})
	}
	if slices.Contains([]fsm.Phase{Degraded, RebalancingSlots, EvacuatingSlots}, phase) && d.Reason == ReasonDataLost && !mayRefillLostShards(in) {
		own = append(own, metav1.Condition{Type: fsm.Stalled, Status: metav1.ConditionTrue, Reason: string(d.Reason), Message: d.Message})
	}
	return own
}

// unreached says that a cluster that is well is not yet what the spec asks for, and why.
func unreached(in input, d fsm.Decision) (fsm.Reason, string) {
	if in.Obj.Status.Phase != Running {
		return "", ""
	}
	waits := d.Held || slices.Contains([]fsm.Reason{
		ReasonReservedByOther, ReasonReserving, ReasonPaused, ReasonChangeNotApplied, ReasonUpgradeAbandoned, ReasonCannotWrite,
	}, d.Reason)
	if _, lacks := in.World.lacks(); lacks { // a promotion came first
		return ReasonNodesMissing, whatItLacks(in)
	}
	switch {
	case in.World.Upgrade != nil && in.Obj.Status.Failures > 0: // what it asks for is refused
		return d.Reason, d.Message
	case in.World.Upgrade != nil && d.Reason != ReasonReservedByOther: // a change of size may wait for it
		return ReasonUpgrading, upgradeWorks(in.World)
	case waits:
		return d.Reason, d.Message
	}
	if c, has := settingsCondition(in); has && c.Status != metav1.ConditionTrue {
		return fsm.Reason(c.Reason), c.Message
	}
	if _, other := rotation(in); other {
		return ReasonApplyingAccess, "The manager makes new passwords and tells the servers of them."
	}
	return toldEdit(in, d)
}

// toldEdit says that a child is not as the spec asks for, in the words of who refuses it if somebody does.
func toldEdit(in input, d fsm.Decision) (fsm.Reason, string) {
	reason, why := unappliedEdit(in)
	if reason != "" && in.Obj.Status.Failures > 0 && d.Reason != ReasonClusterHealthy {
		return d.Reason, d.Message
	}
	return reason, why
}

// unappliedEdit says that a child is not as the spec asks for.
func unappliedEdit(in input) (fsm.Reason, string) {
	if i := slices.IndexFunc(in.World.Claims, func(c Claim) bool { return c.within(in.World.Shape) && (c.Small || c.Resizing != "") }); i >= 0 {
		return ReasonApplying, fmt.Sprintf("Claim %s does not have a volume of spec.persistence.size yet.", in.World.Claims[i].Name)
	}
	_, unasked := pendingRestart(in)
	edited := slices.DeleteFunc(in.World.unapplied(), func(c Child) bool {
		return c.Current || isClosed(c) || unasked && c.Kind == KindStatefulSet && c.UID != "" && !hasTemplate(c, in.World.Template)
	})
	switch {
	case len(edited) == 0:
		return "", ""
	case in.Obj.Spec.Paused:
		return ReasonPaused, fmt.Sprintf("The cluster is paused; unset spec.paused, and the manager applies the edited spec to %s.", edited[0].Ref)
	}
	return ReasonApplying, fmt.Sprintf("The manager applies the edited spec to %s.", edited[0].Ref)
}

// availableCondition says whether every slot is served. Before it was said to be Running, a cluster is not
// offered to anybody.
func availableCondition(in input) metav1.Condition {
	w := in.World
	c := metav1.Condition{Type: valkeyv1.Available, Status: metav1.ConditionFalse}
	served := servedSlots(w)
	_, silent := w.Nodes.Silent()
	switch {
	case served >= topology.TotalSlots && w.Formed, in.Obj.Status.Phase == Running && (silent || served >= topology.TotalSlots):
		// That one did not answer just now is no evidence: the others and its kubelet would miss it, too.
		c.Status, c.Message = metav1.ConditionTrue, "All slots are served."
	case !w.Formed:
		c.Message = "The cluster is not formed yet."
	case silent:
		c.Message = "Some servers do not answer, so that not every slot is known to be served."
	default:
		c.Message = fmt.Sprintf("%d of %d slots are not served.", topology.TotalSlots-served, topology.TotalSlots)
	}
	return c
}

// servedSlots is how many slots have an owner that says that it serves.
func servedSlots(w World) (n int) {
	for _, node := range w.Nodes {
		if node.Server != nil && node.Server.OK {
			n += node.Server.Self().Slots.Count()
		}
	}
	return n
}

func progressingCondition(phase fsm.Phase) metav1.Condition {
	if progressing(phase) {
		return metav1.Condition{Type: valkeyv1.Progressing, Status: metav1.ConditionTrue, Message: fmt.Sprintf("Phase %s is under way.", phase)}
	}
	return metav1.Condition{Type: valkeyv1.Progressing, Status: metav1.ConditionFalse, Message: "No operation is under way."}
}

// progressing says that an operation is under way.
func progressing(phase fsm.Phase) bool {
	return slices.Contains(reserving, phase) || phase == VerifyingClusterHealth || phase == Deleting
}

func degradedCondition(phase fsm.Phase, d fsm.Decision) metav1.Condition {
	if phase == Degraded {
		return metav1.Condition{Type: valkeyv1.Degraded, Status: metav1.ConditionTrue, Message: d.Message}
	}
	return metav1.Condition{Type: valkeyv1.Degraded, Status: metav1.ConditionFalse, Message: "The cluster is not degraded."}
}

func status(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
