package node

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape puts right what is ours of a Node. What others put there stays: labels, taints, conditions, and a cordon.
func shape(want, node *corev1.Node, now time.Time) Plan {
	var writes []Write
	if is := shaped(want, node); is != nil {
		writes = append(writes, PatchNode{node, is})
	}
	if is := reported(want, node, now); is != nil {
		writes = append(writes, PatchStatus{node, is})
	}
	if len(writes) == 2 { // the second would be of a version that the first has changed
		return Plan{Writes: writes[:1], Again: soon}
	}
	return Plan{Writes: writes, Again: renewal}
}

// shaped is the Node with our labels, annotations and taints as they should be; nil if they are.
func shaped(want, node *corev1.Node) *corev1.Node {
	is := node.DeepCopy()
	is.Labels = overlaid(is.Labels, want.Labels, deviceLabels)
	is.Annotations = overlaid(is.Annotations, want.Annotations, prefix)
	if _, left := node.Annotations[leavingSince]; left { // it came back
		is.Spec.Unschedulable = node.Annotations[cordoned] != ""
	}
	is.Spec.Taints = slices.DeleteFunc(is.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, prefix) })
	is.Spec.Taints = append(slices.Clone(want.Spec.Taints), is.Spec.Taints...)
	if equality.Semantic.DeepEqual(is, node) || sameButForOrder(is, node) {
		return nil
	}
	return is
}

// sameButForOrder: others add taints before and behind ours, which is no difference.
func sameButForOrder(a, b *corev1.Node) bool {
	sorted := func(n *corev1.Node) *corev1.Node {
		n = n.DeepCopy()
		slices.SortFunc(n.Spec.Taints, func(a, b corev1.Taint) int { return strings.Compare(a.ToString(), b.ToString()) })
		return n
	}
	return equality.Semantic.DeepEqual(sorted(a), sorted(b))
}

// overlaid lays want over have, and removes those with this prefix that are not wanted.
func overlaid(have, want map[string]string, ours string) map[string]string {
	for key := range have {
		if _, wanted := want[key]; strings.HasPrefix(key, ours) && !wanted {
			delete(have, key)
		}
	}
	for key, value := range want {
		if have == nil {
			have = map[string]string{}
		}
		have[key] = value
	}
	return have
}

// reported is the Node with our conditions, capacity and system as they should be; nil if they are. Nothing is written only to
// show that we live: that is for the Lease.
func reported(want, node *corev1.Node, now time.Time) *corev1.Node {
	is, at := node.DeepCopy(), metav1.NewTime(now.Truncate(time.Second))
	changes := false
	for _, c := range want.Status.Conditions {
		i := slices.IndexFunc(is.Status.Conditions, func(o corev1.NodeCondition) bool { return o.Type == c.Type })
		if i < 0 {
			c.LastHeartbeatTime, c.LastTransitionTime = at, at
			is.Status.Conditions, changes = append(is.Status.Conditions, c), true
			continue
		}
		have := &is.Status.Conditions[i]
		if have.Status == c.Status && have.Reason == c.Reason && have.Message == c.Message {
			continue
		}
		if have.Status != c.Status {
			have.LastTransitionTime = at
		}
		have.Status, have.Reason, have.Message, have.LastHeartbeatTime, changes = c.Status, c.Reason, c.Message, at, true
	}
	if info := want.Status.NodeInfo; is.Status.NodeInfo.OperatingSystem != info.OperatingSystem || is.Status.NodeInfo.Architecture != info.Architecture {
		is.Status.NodeInfo.OperatingSystem, is.Status.NodeInfo.Architecture, changes = info.OperatingSystem, info.Architecture, true
	}
	if !equality.Semantic.DeepEqual(is.Status.Capacity, want.Status.Capacity) || !equality.Semantic.DeepEqual(is.Status.Allocatable, want.Status.Allocatable) {
		is.Status.Capacity, is.Status.Allocatable, changes = want.Status.Capacity, want.Status.Allocatable, true
	}
	if !changes {
		return nil
	}
	return is
}
