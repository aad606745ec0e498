package spec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// podTemplate is the pod of a function: the short form, laid over the container of the user's own template that is
// named function. invalid says why there is none.
func podTemplate(c *runtimev1.ClassRuntime, f *runtimev1.Function) (template *corev1.PodTemplateSpec, invalid string) {
	template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: runtimev1.FunctionContainer}}}}
	if own := f.PodTemplate; own != nil {
		template = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: maps.Clone(own.Annotations), Labels: maps.Clone(own.Labels)}, Spec: *own.Spec.DeepCopy()}
	}
	container := functionContainer(&template.Spec)
	switch {
	case container == nil:
		return nil, fmt.Sprintf("The podTemplate of function %s has no container named %s: give that name to the container that runs the function.", f.Key, runtimev1.FunctionContainer)
	case container.Image == "" && f.Image == "":
		return nil, fmt.Sprintf("Function %s has no image: set image, or that of container %s in podTemplate.", f.Key, runtimev1.FunctionContainer)
	}
	overlay(container, f.DeepCopy())
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	maps.Copy(template.Labels, selected(c, f.Key))
	return template, ""
}

// functionContainer is the one that runs the function; nil if there is none.
func functionContainer(pod *corev1.PodSpec) *corev1.Container {
	if i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == runtimev1.FunctionContainer }); i >= 0 {
		return &pod.Containers[i]
	}
	return nil
}

// overlay lays the short form over a container: what it says replaces what was there, and variables and ports are
// replaced one by one.
func overlay(c *corev1.Container, f *runtimev1.Function) {
	if f.Image != "" {
		c.Image = f.Image
	}
	if f.Command != nil {
		c.Command = f.Command
	}
	if f.Args != nil {
		c.Args = f.Args
	}
	c.Env = merge(c.Env, f.Env, func(v corev1.EnvVar) string { return v.Name })
	c.EnvFrom = append(c.EnvFrom, f.EnvFrom...)
	c.Ports = merge(slices.Clone(protocols(c.Ports)), protocols(f.Ports), portKey)
	if f.Resources != nil {
		c.Resources = *f.Resources
	}
	for _, probe := range []struct {
		of   **corev1.Probe
		with *corev1.Probe
	}{{&c.ReadinessProbe, f.ReadinessProbe}, {&c.LivenessProbe, f.LivenessProbe}, {&c.StartupProbe, f.StartupProbe}} {
		if probe.with != nil {
			*probe.of = probe.with
		}
	}
}

// merge replaces what is known by the same key, in its place, and appends the rest.
func merge[T any](base, over []T, key func(T) string) []T {
	for _, o := range over {
		if i := slices.IndexFunc(base, func(b T) bool { return key(b) == key(o) }); i >= 0 {
			base[i] = o
		} else {
			base = append(base, o)
		}
	}
	return base
}

func portKey(p corev1.ContainerPort) string { return fmt.Sprintf("%d/%s", p.ContainerPort, p.Protocol) }

// protocols fills in the default protocol: it is part of the key of a port, and server-side apply refuses one without.
func protocols(ports []corev1.ContainerPort) []corev1.ContainerPort {
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = corev1.ProtocolTCP
		}
	}
	return ports
}
