package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// remove takes a Node away: first it is closed, so that nothing is bound to it any more; later, once a live list finds no pod that
// is bound to it, it is deleted. Its pods go on until they have gone by themselves.
func remove(found Found, evicts bool, now time.Time) Plan {
	node := found.Node
	since, closing := node.Annotations[leavingSince]
	at, err := time.Parse(time.RFC3339, since)
	if !closing || err != nil || now.Before(at) || !isClosed(node, evicts) {
		return Plan{Writes: []Write{PatchNode{node, leaving(node, evicts, now)}}, Again: soon}
	}
	if left := quarantine - now.Sub(at); left > 0 {
		return Plan{Again: left}
	}
	if !found.Pods.None() {
		return Plan{Again: renewal}
	}
	return Plan{Writes: []Write{DeleteNode{node.Name, node.UID, node.ResourceVersion}}, Again: soon}
}

// leaving is a Node that takes no new pods, by a taint and by a cordon: some pods tolerate every taint, and DaemonSets a cordon.
func leaving(node *corev1.Node, evicts bool, now time.Time) *corev1.Node {
	is := node.DeepCopy()
	if is.Annotations == nil {
		is.Annotations = map[string]string{}
	}
	if _, ours := is.Annotations[leavingSince]; is.Spec.Unschedulable && !ours {
		is.Annotations[cordoned] = "true"
	}
	is.Annotations[leavingSince] = now.UTC().Format(time.RFC3339)
	is.Spec.Unschedulable = true
	is.Spec.Taints = slices.DeleteFunc(is.Spec.Taints, func(t corev1.Taint) bool { return t.Key == closedTaint })
	is.Spec.Taints = append(is.Spec.Taints, leavingTaints(evicts)...)
	return is
}

func leavingTaints(evicts bool) []corev1.Taint {
	taints := []corev1.Taint{closed("Leaving")}
	if evicts {
		taints = append(taints, corev1.Taint{Key: closedTaint, Value: "Leaving", Effect: corev1.TaintEffectNoExecute})
	}
	return taints
}

func isClosed(node *corev1.Node, evicts bool) bool {
	for _, taint := range leavingTaints(evicts) {
		if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == taint.Key && t.Effect == taint.Effect && t.Value == taint.Value
		}) {
			return false
		}
	}
	return node.Spec.Unschedulable
}
