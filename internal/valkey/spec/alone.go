package spec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// How Istio marks the pods whose connections a proxy of their node takes: what a user asks for, and what was done.
const (
	dataplaneLabel        = "istio.io/dataplane-mode"
	redirectionAnnotation = "ambient.istio.io/redirection"
)

// ListensAlone says that nobody but the server listens, and so refuses, at the address of a pod: a proxy that a mesh has put
// into the pod, or before it on its node, may refuse while the server lives.
func ListensAlone(p *corev1.Pod) bool {
	inside := len(p.Spec.Containers) > 1 || slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
	before := p.Labels[dataplaneLabel] == "ambient" || p.Annotations[redirectionAnnotation] == "enabled"
	return !inside && !before
}
