package job

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNeverStarted(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"every container ended without an ID": {func(*corev1.Pod) {}, true},
		"it was never bound, nor reported":    {func(p *corev1.Pod) { p.Spec.NodeName, p.Status.ContainerStatuses = "", nil }, true},
		"it is not terminal":                  {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, false},
		"it is not bound, and not terminal":   {func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending }, false},
		"it succeeded":                        {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
		"its container had an ID":             {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].ContainerID = "c1" }, false},
		"its end had an ID":                   {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.ContainerID = "c1" }, false},
		"its container had begun": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State.Terminated.StartedAt = metav1.NewTime(time.Unix(1, 0))
		}, false},
		"its container waits": {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State = corev1.ContainerState{} }, false},
		"its container runs": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}, false},
		"its container was restarted": {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 1 }, false},
		"its container had ended before": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{}
		}, false},
		"the control plane gave it up, not its kubelet": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}, false},
		"a container was not reported": {func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "more"}) }, false},
		"an initial container ran": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "first"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "first", ContainerID: "c2", State: p.Status.ContainerStatuses[0].State}}
		}, false},
		"somebody debugged it": {func(p *corev1.Pod) {
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
		}, false},
	} {
		pod := exited(137, "ContainerStatusUnknown")
		tc.change(&pod)
		if got := NeverStarted(&pod); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestMessage(t *testing.T) {
	pod := exited(1, "Error")
	if said, ended := Message(&pod, "look"); said != "no bill" || !ended {
		t.Errorf("said %q, ended %t", said, ended)
	}
	if said, ended := Message(&pod, "other"); said != "" || ended {
		t.Errorf("another said %q, ended %t", said, ended)
	}
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{}
	if _, ended := Message(&pod, "look"); ended {
		t.Error("one that waits has ended")
	}
}
