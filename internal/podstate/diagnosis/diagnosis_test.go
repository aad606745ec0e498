package diagnosis

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

func pod(status corev1.PodStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}, Status: status,
		Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: "prepare", Image: "tools:1"}},
			Containers: []corev1.Container{{Name: "web", Image: "web:1",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}}},
		},
	}
}

func waiting(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func ended(c corev1.ContainerStatus, code int32, reason string) corev1.ContainerStatus {
	c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
	return c
}

func of(c corev1.ContainerStatus) corev1.PodStatus {
	return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c}}
}

func trouble(reason podstate.Reason, words string, mayRun bool) podstate.Trouble {
	return podstate.Trouble{Reason: reason, Words: words, MayRun: mayRun}
}

func TestOf(t *testing.T) {
	running := corev1.ContainerStatus{Name: "web", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	for what, c := range map[string]struct {
		status corev1.PodStatus
		want   podstate.Trouble
	}{
		"runs":                                   {of(running), podstate.Trouble{}},
		"ran out of memory once, and runs again": {of(ended(running, 137, "OOMKilled")), podstate.Trouble{}},
		"is being created":                       {of(waiting("web", "ContainerCreating", "")), podstate.Trouble{}},
		"has ended, and is about to be restarted": {of(corev1.ContainerStatus{Name: "web", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled"}}}), podstate.Trouble{}},
		"no node takes it": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"}}},
			trouble(podstate.Unschedulable, "No node takes pod web-0 (Unschedulable). Add a node, free resources or ask for less; kubectl describe pod -n shop web-0 says more.", false)},
		"no node takes it, and why": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
			Message: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found."}}},
			trouble(podstate.Unschedulable, "No node takes pod web-0 (Unschedulable): Insufficient memory, node(s) had untolerated taint(s). Add a node, free resources or ask for less; kubectl describe pod -n shop web-0 says more.", false)},
		"its image is not there": {of(waiting("web", "ErrImagePull", "rpc error 17")),
			trouble(podstate.ImagePullBackOff, "Container web of pod web-0 cannot get its image web:1 (ImagePullBackOff). Correct the image, or give the node access to its registry.", false)},
		"its image is still not there": {of(waiting("web", "ImagePullBackOff", "Back-off 20s")),
			trouble(podstate.ImagePullBackOff, "Container web of pod web-0 cannot get its image web:1 (ImagePullBackOff). Correct the image, or give the node access to its registry.", false)},
		"the image of an initial container is not there": {corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{waiting("prepare", "ImagePullBackOff", "")},
			ContainerStatuses:     []corev1.ContainerStatus{waiting("web", "PodInitializing", "")},
		}, trouble(podstate.ImagePullBackOff, "Container prepare of pod web-0 cannot get its image tools:1 (ImagePullBackOff). Correct the image, or give the node access to its registry.", false)},
		"its image is no image": {of(waiting("web", "InvalidImageName", "")),
			trouble(podstate.InvalidImageName, "Container web of pod web-0 has an image that is no name of one: web:1 (InvalidImageName). Correct the image.", false)},
		"a Secret is missing": {of(waiting("web", "CreateContainerConfigError", `secret "key" not found`)),
			trouble(podstate.CreateContainerConfigError, `Container web of pod web-0 lacks a Secret or ConfigMap, or a key in one: secret "key" not found (CreateContainerConfigError). Create it.`, false)},
		"the runtime cannot start it": {of(waiting("web", "RunContainerError", "id 4711")),
			trouble(podstate.CreateContainerError, "Container web of pod web-0 cannot start (CreateContainerError). See kubectl describe pod -n shop web-0.", false)},
		"it ends again and again": {of(ended(waiting("web", "CrashLoopBackOff", "back-off 5m"), 3, "Error")),
			trouble(podstate.CrashLoopBackOff, "Container web of pod web-0 ends again and again, last with exit code 3 (CrashLoopBackOff). Read kubectl logs -n shop web-0 -c web --previous.", false)},
		"it runs out of memory again and again": {of(ended(waiting("web", "CrashLoopBackOff", ""), 137, "OOMKilled")),
			trouble(podstate.OOMKilled, "Container web of pod web-0 is killed again and again because it needs more memory than its limit of 1Gi (OOMKilled). Raise the limit, or let it need less.", false)},
		"it was evicted": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."},
			trouble(podstate.Evicted, "Pod web-0 was evicted from node n1 (Evicted): The node was low on resource: memory. If nothing replaces it, delete it.", true)},
		"it was given up": {corev1.PodStatus{Phase: corev1.PodFailed}, trouble(podstate.Failed, "Pod web-0 has failed (Failed). If nothing replaces it, delete it.", true)},
		"something new":   {of(waiting("web", "NewReason", "")), trouble("NewReason", "Container web of pod web-0 cannot start (NewReason). See kubectl describe pod -n shop web-0.", false)},
	} {
		if got := Of(pod(c.status)); got != c.want {
			t.Errorf("a pod that %s: %+v, want %+v", what, got, c.want)
		}
	}
}

// What Kubernetes says is quoted, and not at any length: it becomes part of a status.
func TestQuotesAreShort(t *testing.T) {
	said := Of(pod(of(waiting("web", "CreateContainerConfigError", strings.Repeat("é", 500))))).Words
	if len(said) > 400 || !strings.Contains(said, "…") {
		t.Errorf("%d bytes: %s", len(said), said)
	}
}

// A pod that was given up may run where nobody looks.
func TestWhoIsGivenUpMayRun(t *testing.T) {
	if lost := Of(pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "NodeLost"})); !lost.Is() || lost.Stopped() {
		t.Errorf("%+v", lost)
	}
}
