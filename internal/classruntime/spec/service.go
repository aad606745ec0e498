package spec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// service is the address of a function: its ports, under the same numbers. Without ports there is none.
func service(c *runtimev1.ClassRuntime, key string, ports []corev1.ContainerPort) *corev1.Service {
	if len(ports) == 0 {
		return nil
	}
	s := &corev1.Service{ObjectMeta: owned(c, key), Spec: corev1.ServiceSpec{Selector: selected(c, key)}}
	for _, p := range ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
			Name: portName(p, len(ports)), Port: p.ContainerPort, Protocol: p.Protocol, TargetPort: intstr.FromInt32(p.ContainerPort),
		})
	}
	return s
}

// portName is needed where there are several.
func portName(p corev1.ContainerPort, of int) string {
	if p.Name != "" || of == 1 {
		return p.Name
	}
	return strings.ToLower(fmt.Sprintf("%s-%d", p.Protocol, p.ContainerPort))
}
