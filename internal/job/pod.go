package job

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// failure says how the first failed container of a pod ended; "" if none did.
func failure(p *corev1.Pod) string {
	for _, c := range containers(p) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return strings.TrimSuffix(fmt.Sprintf("container %s of pod %s exited with %d, %s", c.Name, p.Name, t.ExitCode, t.Reason), ", ")
		}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason != "" {
		return fmt.Sprintf("pod %s failed, %s", p.Name, p.Status.Reason)
	}
	return ""
}

// Message is what a container of a pod wrote before it ended, and whether it ended. A container
// that was lost or killed may have ended without a message.
func Message(p *corev1.Pod, container string) (message string, ended bool) {
	for _, c := range containers(p) {
		if c.Name == container && c.State.Terminated != nil {
			return c.State.Terminated.Message, true
		}
	}
	return "", false
}

// NeverStarted says that no container of a pod ever ran, and none will. It believes a pod that
// was never bound to a node, or whose kubelet reported every container as ended without an ID.
//
// NOTE: a pod that the control plane called Failed because its node was lost proves nothing:
// its process may run. Neither does a runtime that lost its records (it restarts the container).
func NeverStarted(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodFailed {
		return false
	}
	if p.Spec.NodeName == "" {
		return true
	}
	if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}) {
		return false
	}
	reported := map[string]corev1.ContainerStatus{}
	for _, c := range containers(p) {
		reported[c.Name] = c
	}
	return !slices.ContainsFunc(namesOf(p), func(name string) bool { return mayHaveRun(reported[name]) })
}

// mayHaveRun says that nothing excludes that a container ran; one that was not reported may have.
func mayHaveRun(c corev1.ContainerStatus) bool {
	t := c.State.Terminated
	return t == nil || t.ContainerID != "" || c.ContainerID != "" || !t.StartedAt.IsZero() ||
		c.LastTerminationState != (corev1.ContainerState{}) || c.RestartCount != 0
}

// namesOf are the containers that a pod has, reported or not.
func namesOf(p *corev1.Pod) (names []string) {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		names = append(names, c.Name)
	}
	for _, c := range p.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	return names
}

// containers are those that were reported, initial ones first.
func containers(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses)
}
