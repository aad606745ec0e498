// Package diagnosis finds out why a pod does not run, in words for the person who is paged: which
// container, what is wrong, and what to do. It is pure, and knows no area.
package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// Of is why a pod does not run. A container that has ended and is restarted at once is none.
func Of(p *corev1.Pod) podstate.Trouble {
	if p.Status.Phase == corev1.PodFailed {
		return given(p)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			const words = "No node takes pod %s (%s)%s. Add a node, free resources or ask for less; kubectl describe pod -n %s %s says more."
			return podstate.Trouble{Reason: podstate.Unschedulable, Words: fmt.Sprintf(words, p.Name, podstate.Unschedulable, doubts(c.Message), p.Namespace, p.Name)}
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && !onTheWay[w.Reason] {
			return waits(p, c, w)
		}
	}
	return podstate.Trouble{}
}

// Words are those of Of, "" if there are none.
func Words(p *corev1.Pod) string { return Of(p).Words }

// onTheWay are the reasons for which a container waits in the course of things.
var onTheWay = map[string]bool{"": true, "ContainerCreating": true, "PodInitializing": true}

// given is a pod that was given up: by its kubelet, or by the control plane for one that is
// silent, which proves nothing about its processes.
func given(p *corev1.Pod) podstate.Trouble {
	reason := podstate.Reason(cmp.Or(p.Status.Reason, string(podstate.Failed)))
	words := fmt.Sprintf("Pod %s has failed (%s)", p.Name, reason)
	if reason == podstate.Evicted {
		words = fmt.Sprintf("Pod %s was evicted from node %s (%s)", p.Name, p.Spec.NodeName, reason)
	}
	if said := quote(p.Status.Message); said != "" {
		words += ": " + said
	}
	return podstate.Trouble{Reason: reason, Words: words + ". If nothing replaces it, delete it.", MayRun: true}
}

// alike are the names that kubelets have for one reason.
var alike = map[string]podstate.Reason{
	"ErrImagePull": podstate.ImagePullBackOff, "RegistryUnavailable": podstate.ImagePullBackOff,
	"ErrImageNeverPull": podstate.ImagePullBackOff, "ImageInspectError": podstate.ImagePullBackOff,
	"RunContainerError": podstate.CreateContainerError, "PreCreateHookError": podstate.CreateContainerError,
	"PreStartHookError": podstate.CreateContainerError, "PostStartHookError": podstate.CreateContainerError,
}

// waits is a container that cannot start.
func waits(p *corev1.Pod, c corev1.ContainerStatus, w *corev1.ContainerStateWaiting) podstate.Trouble {
	reason := podstate.Reason(w.Reason)
	if known, is := alike[w.Reason]; is {
		reason = known
	}
	last := c.LastTerminationState.Terminated
	if reason == podstate.CrashLoopBackOff && last != nil && last.Reason == string(podstate.OOMKilled) {
		reason = podstate.OOMKilled
	}
	what, todo := "cannot start", fmt.Sprintf("See kubectl describe pod -n %s %s", p.Namespace, p.Name)
	switch reason {
	case podstate.ImagePullBackOff:
		what, todo = "cannot get its image "+image(p, c), "Correct the image, or give the node access to its registry"
	case podstate.InvalidImageName:
		what, todo = "has an image that is no name of one: "+image(p, c), "Correct the image"
	case podstate.CreateContainerConfigError:
		what, todo = "lacks a Secret or ConfigMap, or a key in one", "Create it"
		if said := quote(w.Message); said != "" {
			what += ": " + said
		}
	case podstate.CrashLoopBackOff:
		what, todo = "ends again and again"+exit(last), logs(p, c)
	case podstate.OOMKilled:
		what = "is killed again and again because it needs more memory than its limit" + limit(p, c)
		todo = "Raise the limit, or let it need less"
	}
	return podstate.Trouble{Reason: reason, Words: fmt.Sprintf("Container %s of pod %s %s (%s). %s.", c.Name, p.Name, what, reason, todo)}
}

func logs(p *corev1.Pod, c corev1.ContainerStatus) string {
	return fmt.Sprintf("Read kubectl logs -n %s %s -c %s --previous", p.Namespace, p.Name, c.Name)
}

func exit(last *corev1.ContainerStateTerminated) string {
	if last == nil {
		return ""
	}
	return fmt.Sprintf(", last with exit code %d", last.ExitCode)
}

// image is the one that is asked for: the status has what the runtime makes of it.
func image(p *corev1.Pod, c corev1.ContainerStatus) string {
	if spec := container(p, c.Name); spec != nil {
		return spec.Image
	}
	return c.Image
}

func limit(p *corev1.Pod, c corev1.ContainerStatus) string {
	spec := container(p, c.Name)
	if spec == nil {
		return ""
	}
	if most, set := spec.Resources.Limits[corev1.ResourceMemory]; set {
		return " of " + most.String()
	}
	return ""
}

func container(p *corev1.Pod, name string) *corev1.Container {
	all := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	if i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// mostQuoted is how much is quoted of what Kubernetes says.
const mostQuoted = 200

func quote(said string) string {
	said = strings.TrimRight(strings.TrimSpace(said), ".")
	if len(said) > mostQuoted {
		return strings.ToValidUTF8(said[:mostQuoted], "") + "…"
	}
	return said
}
